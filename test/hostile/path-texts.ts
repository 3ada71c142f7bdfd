/** Paths that lead out of where they were asked for, in every spelling. */

const DOTS = [
  "../",
  "..%2f",
  "%2e%2e/",
  "%2e%2e%2f",
  "%252e%252e%252f",
  "..\\",
  "..%5c",
  "%2e%2e%5c",
  "....//",
  "..;/",
  ".%2e/",
  "%c0%ae%c0%ae/",
  "..%c0%af",
  "..%00/",
  "/../",
] as const;
const TARGETS = ["etc/passwd", "package.json", "proc/self/environ", "web/.vite/manifest.json"] as const;

const WHOLE = [
  "//etc/passwd",
  "/%2fetc%2fpasswd",
  "/etc/passwd",
  "/proc/self/environ",
  "/proc/self/cwd/package.json",
  "file:///etc/passwd",
  "C:%5cWindows%5cwin.ini",
  "index.html%00.js",
  "%00",
  "index.html/../../package.json",
  "./index.html",
  ".env",
  ".git/config",
  "node_modules/pg/package.json",
  "~root/.ssh/id_rsa",
  "a".repeat(4_000),
  `${"a/".repeat(1_000)}`,
] as const;

export const PATH_TEXTS: readonly string[] = [
  ...DOTS.flatMap((dots) => TARGETS.map((target) => `${dots.repeat(6)}${target}`)),
  ...WHOLE,
];
