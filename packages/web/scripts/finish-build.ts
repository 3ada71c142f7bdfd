/** Weighs what was built against the budget, then puts the compressed files beside the others. */

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { type Manifest, overBudget, weigh } from "./budget.ts";

const FOLDER = fileURLToPath(new URL("../../server/web/", import.meta.url));
const COMPRESSED = new Set([".js", ".css", ".svg", ".html", ".json"]);
/** Below this a compressed file saves less than its headers cost. */
const SMALLEST = 512;

const manifest = JSON.parse(readFileSync(join(FOLDER, ".vite/manifest.json"), "utf8")) as Manifest;
const weights = weigh(manifest, (file) => gzipSync(readFileSync(join(FOLDER, file)), { level: 9 }).length);
const over = overBudget(weights);
if (over.length > 0) {
  for (const { name, bytes, limit } of weights) {
    process.stderr.write(`${name.padEnd(24)} ${kB(bytes)} of ${kB(limit)} gzip\n`);
  }
  process.stderr.write(`Over its budget: ${over.map(({ name }) => name).join(", ")}\n`);
  process.exit(1);
}
const [first] = weights;
if (first !== undefined) {
  process.stdout.write(
    `The first page takes ${kB(first.bytes).trim()} of scripts, at most ${kB(first.limit).trim()}\n`,
  );
}
for (const file of readdirSync(FOLDER, { recursive: true, encoding: "utf8" })) compress(join(FOLDER, file));

function compress(path: string): void {
  if (!COMPRESSED.has(extname(path)) || path.includes(".vite") || statSync(path).size < SMALLEST) return;
  // The server writes its base path into this one.
  if (path.endsWith("index.html")) return;
  const bytes = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: quality }));
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`.padStart(9);
}
