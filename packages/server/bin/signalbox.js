#!/usr/bin/env node
/**
 * Starts the command line: the compiled one when it was built, else the sources through tsx.
 *
 * The sources need a second process: the condition `source`, by which the packages find each other's
 * sources, can only be given to Node at its start, and from there it reaches every child and worker.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const compiled = new URL("../dist/cli/main.js", import.meta.url);
const source = new URL("../src/cli/main.ts", import.meta.url);

if (existsSync(compiled)) {
  await import(compiled.href);
} else {
  runSources();
}

function runSources() {
  const nodeOptions = ["--import", tsxOrExplain(), "--conditions=source"];
  const child = spawn(process.execPath, [...nodeOptions, fileURLToPath(source), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  // A terminal's Ctrl-C reaches the child by itself; here it must only not end the parent before the child.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

function tsxOrExplain() {
  try {
    return import.meta.resolve("tsx");
  } catch {
    process.stderr.write("signalbox is not built here: run `npm ci && npm run build` first.\n");
    process.exit(1);
  }
}
