/**
 * `npm run bench [-- --full] [-- <part of a scenario's name> …]`. The peers need a newer Node than we do: the benchmark is a
 * package of its own with its own lockfile, installed on its first run, and everything in it runs on the Node it brings.
 */

import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../bench/", import.meta.url));
const installed = `${folder}node_modules/.package-lock.json`;

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

const isStale =
  !existsSync(installed) || statSync(installed).mtimeMs < statSync(`${folder}package-lock.json`).mtimeMs;
if (isStale) run("npm", ["ci", "--no-audit", "--no-fund"]);
run(`${folder}node_modules/.bin/node`, ["src/main.ts", ...process.argv.slice(2)]);
