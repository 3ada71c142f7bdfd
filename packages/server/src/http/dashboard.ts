/**
 * Serves the dashboard as it was built: files whose names change with their content for ever, the page itself anew each time,
 * with the base path written into it. It refuses what is not a file of the build: no path of a request ever reaches the disk.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

export interface DashboardOptions {
  /** Where the build is. Default: beside this package's `dist`. */
  readonly folder?: string;
  /** What stands before every path as the browser sees it; who serves behind one takes it off. Default: "/". */
  readonly basePath?: string;
}

interface ServedFile {
  readonly type: string;
  readonly etag: string;
  readonly immutable: boolean;
  readonly bytes: Buffer;
  readonly br: Buffer | null;
  readonly gzip: Buffer | null;
}

const BUILT = fileURLToPath(new URL("../../web/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
};

/** Every script and style is a file of ours; nothing is fetched from elsewhere, nobody frames the page. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** What the API and the probes have; an unknown path of theirs is answered with a problem, never with the page. */
const NOT_PAGES = /^\/(?:api|docs|metrics|healthz|livez|readyz)(?:\/|$)/;

/** Whoever has no session yet needs the page to begin one; it holds nothing that is secret. */
const OPEN = { config: { access: "open" } } as const;

/** From the sources there is none before `npm run build`. */
export function isDashboardBuilt(): boolean {
  return existsSync(join(BUILT, "index.html"));
}

/** False: there is no build, and nothing was added. */
export function addDashboard(app: FastifyInstance, options: DashboardOptions = {}): boolean {
  const files = readBuild(options.folder ?? BUILT, options.basePath ?? "/");
  const page = files.get("/index.html");
  if (page === undefined) return false;
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split("?")[0] ?? "/";
    const file = files.get(path);
    if (file !== undefined) return send(request, reply, file);
    // A file that is gone must not be answered with the page: the browser would take it for a script.
    if (NOT_PAGES.test(path) || path.startsWith("/assets/")) {
      reply.callNotFound();
      return reply;
    }
    return send(request, reply, page);
  };
  app.get("/", OPEN, answer);
  app.get("/*", OPEN, answer);
  return true;
}

function readBuild(folder: string, basePath: string): ReadonlyMap<string, ServedFile> {
  const files = new Map<string, ServedFile>();
  for (const name of namesIn(folder)) {
    const type = TYPES[extname(name)];
    if (type === undefined || name.startsWith(".vite")) continue;
    const path = `/${name.split(sep).join(posix.sep)}`;
    const bytes = path === "/index.html" ? pageAt(basePath, folder) : readFileSync(join(folder, name));
    files.set(path, {
      type,
      bytes,
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
      immutable: path.startsWith("/assets/"),
      br: readIfThere(join(folder, `${name}.br`)),
      gzip: readIfThere(join(folder, `${name}.gz`)),
    });
  }
  return files;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

function pageAt(basePath: string, folder: string): Buffer {
  const page = readFileSync(join(folder, "index.html"), "utf8");
  return Buffer.from(page.replace('<base href="/" />', () => `<base href="${withSlashes(basePath)}" />`));
}

/** "signalbox" and "/signalbox/" are the same; what has no place in a path is escaped, so that it cannot leave the attribute. */
function withSlashes(basePath: string): string {
  const path = `/${basePath}/`.replaceAll(/\/+/g, "/");
  return encodeURI(path).replaceAll("'", "%27").replaceAll("&", "%26");
}

function send(request: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  reply
    .header("etag", file.etag)
    .header("vary", "accept-encoding")
    .header("cache-control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache")
    .header("x-content-type-options", "nosniff")
    .header("referrer-policy", "same-origin")
    .header("content-security-policy", POLICY);
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  const accepted = acceptedEncodings(request.headers["accept-encoding"]);
  reply.type(file.type);
  if (file.br !== null && accepted.has("br")) return reply.header("content-encoding", "br").send(file.br);
  if (file.gzip !== null && accepted.has("gzip"))
    return reply.header("content-encoding", "gzip").send(file.gzip);
  return reply.send(file.bytes);
}

function acceptedEncodings(header: string | string[] | undefined): ReadonlySet<string> {
  const parts = String(header ?? "").split(",");
  const wanted = parts.filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part));
  return new Set(wanted.map((part) => (part.split(";")[0] ?? "").trim().toLowerCase()));
}
