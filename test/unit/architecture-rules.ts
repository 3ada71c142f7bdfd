/**
 * Who may import whom, as functions over file texts: the same functions judge the repository and the
 * planted violations that prove them. They read text, not types: TypeScript 7 has no API to ask.
 */
import { posix } from "node:path";

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly path: string;
  readonly problem: string;
}

export type Rule = (file: SourceFile) => readonly string[];

const CORE = "packages/core/src/";
export const CORE_FOLDERS = ["domain", "store", "executors", "engine", "testing"] as const;
type CoreFolder = (typeof CORE_FOLDERS)[number];

/** The folders a folder of core may import, besides itself. `(root)` is `src/index.ts` and its neighbours. */
const MAY_IMPORT: Readonly<Record<CoreFolder | "(root)", readonly string[]>> = {
  domain: [],
  store: ["domain"],
  executors: ["domain"],
  engine: ["domain", "store", "executors"],
  testing: ["domain", "store", "executors", "engine", "(root)"],
  "(root)": ["domain", "store", "executors", "engine"],
};

/** The packages each package may import outside its tests; `null`: whatever its package.json declares (knip looks). */
export const PACKAGES: Readonly<Record<string, readonly string[] | null>> = {
  core: ["pg", "croner"],
  contract: ["zod", "@signalbox/core/domain"],
  server: null,
  web: null,
};

/** Computes dates and touches nothing else; `domain` asks it only about given instants. */
const PURE_PACKAGES: readonly string[] = ["croner"];

export const LINES_AT_MOST = 400;

/** Files of engine/ named after a doer are steps. Those that end alike but are parts for several steps are listed. */
const STEP = /^packages\/core\/src\/engine\/[a-z-]*(?:er|relay)\.ts$/;
// The keeper of the lease and its thread hand nothing over: they are parts of the membership.
const NOT_STEPS: ReadonlySet<string> = new Set([
  `${CORE}engine/scheduler.ts`,
  `${CORE}engine/lease-keeper.ts`,
  `${CORE}engine/lease-renewer.ts`,
]);
/** Who may know several steps: the library's face, the started instance with its loops, and tests that step by hand. */
const WIRES =
  /^(?:test\/model\/.*|packages\/core\/(?:test\/.*|src\/(?:engine\/(?:scheduler|scheduler-face|engine|loops|carrier-loop|begin-execution)\.ts|[a-z-]+\.ts|testing\/.*)))$/;

const IMPURE = [
  /\bDate\.now\b/,
  /\bnew Date\(\s*\)/,
  /\bMath\.random\b/,
  /\bperformance\.now\b/,
  /\bset(?:Timeout|Interval|Immediate)\b/,
  /\bprocess\./,
  /\brandomUUID\b/,
  /\bfetch\(/,
];

const SQL = [
  /\bsql\s*(?:<[^`;]*>)?\s*(?:\([^`;]*\))?\s*`/,
  /\.query\(\s*["'`]/,
  /\b(?:FROM|JOIN|INTO|UPDATE|TABLE|TRUNCATE|LOCK|ONLY)\s+signalbox\.[a-z_]/,
];

export const RULES: Readonly<Record<string, Rule>> = {
  "a folder of core imports only the folders below it": (file) => {
    const from = coreFolder(file.path);
    if (from === null || isTest(file.path)) return [];
    const allowed = MAY_IMPORT[from];
    return targetsOf(file)
      .map(coreFolder)
      .filter((to) => to !== null && to !== from && !allowed.includes(to))
      .map((to) => `${from} may not import ${to}`);
  },
  "domain is pure and browser-safe": (file) => {
    if (!file.path.startsWith(`${CORE}domain/`) || isTest(file.path)) return [];
    const outside = importsOf(file.text).filter(
      (specifier) => !specifier.startsWith(".") && !PURE_PACKAGES.includes(specifier),
    );
    const impure = IMPURE.flatMap((pattern) => pattern.exec(withoutComments(file.text))?.[0] ?? []);
    return [
      ...outside.map((specifier) => `domain may not import ${specifier}`),
      ...impure.map((found) => `domain may not use ${found}`),
    ];
  },
  "steps never import each other: only the scheduler wires": (file) => {
    if (WIRES.test(file.path) || isTest(file.path)) return [];
    return targetsOf(file)
      .filter((to) => STEP.test(to) && !NOT_STEPS.has(to))
      .map((to) => `only the wiring may import the step ${to}`);
  },
  "only the store speaks SQL": (file) => {
    const folder = coreFolder(file.path);
    if (folder === null || folder === "store" || folder === "testing" || isTest(file.path)) return [];
    const text = withoutComments(file.text);
    return SQL.flatMap((pattern) => pattern.exec(text)?.[0] ?? []).map(
      (found) => `SQL outside store: ${found}`,
    );
  },
  "a package imports only the packages it may": (file) => {
    const allowed = PACKAGES[packageOf(file.path) ?? ""];
    // What tests share is no part of the package.
    if (!allowed || isTest(file.path) || /^packages\/[a-z]+\/test\//.test(file.path)) return [];
    return importsOf(file.text)
      .filter((specifier) => !specifier.startsWith(".") && !specifier.startsWith("node:"))
      .filter((specifier) => !allowed.includes(specifier))
      .map((specifier) => `may not import ${specifier}`);
  },
  "a relative import stays in its package": (file) => {
    const own = packageOf(file.path);
    if (own === null) return [];
    return targetsOf(file)
      .filter((to) => !to.startsWith(`packages/${own}/`))
      .map((to) => `${to} is outside packages/${own}`);
  },
  "a file has at most 400 lines": (file) => {
    const lines = file.text.split("\n").length - (file.text.endsWith("\n") ? 1 : 0);
    return lines > LINES_AT_MOST ? [`${lines} lines`] : [];
  },
};

export function violationsOf(rule: Rule, files: readonly SourceFile[]): readonly Violation[] {
  return files.flatMap((file) => rule(file).map((problem) => ({ path: file.path, problem })));
}

/** `null` for what is not in core. */
export function coreFolder(path: string): CoreFolder | "(root)" | null {
  if (!path.startsWith(CORE)) return null;
  const [first, ...rest] = path.slice(CORE.length).split("/");
  return rest.length === 0 ? "(root)" : (first as CoreFolder);
}

/** Every module named by an import or a re-export; one that is computed appears as `(computed)` and is allowed nowhere. */
export function importsOf(source: string): readonly string[] {
  const text = withoutComments(source);
  const named = /\b(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"'\n]+)["']/g;
  const bare = /\bimport\s*["']([^"'\n]+)["']/g;
  // `import(${…})` stands inside a text that is code for a worker; it is not an import of this file.
  const called = /\b(?:import|require)\s*\(\s*(?!\$\{)(?:["'`]([^"'`\n$]+)["'`]\s*[),])?/g;
  return [named, bare, called].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, specifier]) => specifier ?? "(computed)"),
  );
}

function targetsOf(file: SourceFile): readonly string[] {
  return importsOf(file.text)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => posix.join(posix.dirname(file.path), specifier));
}

function packageOf(path: string): string | null {
  return /^packages\/([^/]+)\//.exec(path)?.[1] ?? null;
}

function isTest(path: string): boolean {
  return /\.test(?:-d)?\.tsx?$/.test(path);
}

/** Strings are kept and stepped over, so that the `//` of an address does not look like a comment. */
function withoutComments(text: string): string {
  const stringOrComment =
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return text.replace(stringOrComment, (_, string: string | undefined) => string ?? "");
}
