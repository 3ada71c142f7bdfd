import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  CORE_FOLDERS,
  coreFolder,
  importsOf,
  LINES_AT_MOST,
  PACKAGES,
  RULES,
  type SourceFile,
  violationsOf,
} from "./architecture-rules.ts";

const root = new URL("../../", import.meta.url);
const files = ["packages", "examples", "test", "scripts"].flatMap(sourcesUnder);

describe("the repository", () => {
  test.each(Object.entries(RULES))("%s", (_, rule) => {
    expect(violationsOf(rule, files)).toEqual([]);
  });

  test("every folder of core was looked at, and core has no other", () => {
    const seen = new Set(files.map(({ path }) => coreFolder(path)));
    expect([...seen].filter((folder) => folder !== null).sort()).toEqual([...CORE_FOLDERS, "(root)"].sort());
  });

  test("every package was looked at and has its line in the rules", () => {
    const there = readdirSync(new URL("packages/", root)).sort();
    const seen = new Set(files.flatMap(({ path }) => /^packages\/([^/]+)\/src\//.exec(path)?.[1] ?? []));
    expect([...seen].sort()).toEqual(there);
    expect(Object.keys(PACKAGES).sort()).toEqual(there);
  });

  test("the imports of core were really read", () => {
    const core = files.filter(({ path }) => coreFolder(path) !== null);
    expect(core.length).toBeGreaterThanOrEqual(30);
    expect(core.flatMap(({ text }) => importsOf(text)).length).toBeGreaterThanOrEqual(60);
  });
});

describe("every rule finds a planted violation", () => {
  const planted: Readonly<Record<keyof typeof RULES, readonly SourceFile[]>> = {
    "a folder of core imports only the folders below it": [
      core("domain/promotion.ts", `import { promote } from "../store/task-runs/promote.ts";`),
      core("domain/gates/run-at.ts", `import type { Db } from "../../store/db.ts";`),
      core("store/runs/start.ts", `import { runTask } from "../../executors/in-process.ts";`),
      core("store/runs/start.ts", `import {\n  type Loop,\n  createLoop,\n} from "../../engine/loop.ts";`),
      core("executors/in-process.ts", `export * from "../store/db.ts";`),
      core("executors/in-process.ts", `const { createLoop } = await import("../engine/loop.ts");`),
      core("engine/promoter.ts", `import { testDatabase } from "../testing/database.ts";`),
      core("index.ts", `export { testDatabase } from "./testing/database.ts";`),
      core("domain/promotion.ts", `import { createScheduler } from "../index.ts";`),
    ],
    "domain is pure and browser-safe": [
      core("domain/ids.ts", `import { randomBytes } from "node:crypto";`),
      core("domain/ids.ts", `import type { Pool } from "pg";`),
      core("domain/ids.ts", `import "node:fs";`),
      core("domain/ids.ts", `const crypto = await import(name);`),
      core("domain/backoff.ts", `const now = Date.now();`),
      core("domain/backoff.ts", `const now = new Date();`),
      core("domain/backoff.ts", `const jitter = Math.random();`),
      core("domain/settings.ts", `const url = process.env["DATABASE_URL"];`),
    ],
    "steps never import each other: only the scheduler wires": [
      core("engine/promoter.ts", `import { claimOnce } from "./claimer.ts";`),
      core("engine/settler.ts", `import type { PromoteResult } from "./promoter.ts";`),
      core("engine/rescuer.ts", `import { drain } from "./relay.ts";`),
      core("engine/loop.ts", `import { claimOnce } from "./claimer.ts";`),
      core("engine/leases/renewal.ts", `import { claimOnce } from "../claimer.ts";`),
    ],
    "only the store speaks SQL": [
      core("engine/promoter.ts", 'const pending = sql<Row>("pending")`\n  SELECT 1\n`;'),
      core("engine/promoter.ts", "const pending = sql`SELECT 1`;"),
      core("engine/wakeups.ts", `await client.query("LISTEN signalbox_gate");`),
      core("domain/task-status.ts", "const text = `UPDATE signalbox.task_run SET status = 'DONE'`;"),
      core(
        "executors/in-process.ts",
        `const url = "postgres://x"; const text = "SELECT * FROM signalbox.task";`,
      ),
      core("index.ts", "const text = `LOCK TABLE signalbox.hold`;"),
    ],
    "a package imports only the packages it may": [
      core("engine/loop.ts", `import { z } from "zod";`),
      core("testing/database.ts", `import { inject } from "vitest";`),
      core("engine/loop.ts", `import { readFileSync } from "fs";`),
      { path: "packages/contract/src/task.ts", text: `import { createScheduler } from "@signalbox/core";` },
      { path: "packages/contract/src/task.ts", text: `import Fastify from "fastify";` },
    ],
    "a relative import stays in its package": [
      { path: "packages/server/src/api.ts", text: `import { x } from "../../core/src/domain/ids.ts";` },
      core("engine/loop.test.ts", `import { x } from "../../../../test/setup/postgres.ts";`),
    ],
    "a file has at most 400 lines": [core("engine/loop.ts", "a();\n".repeat(LINES_AT_MOST + 1))],
  };

  test.each(Object.entries(RULES))("%s", (name, rule) => {
    const wrong = planted[name] ?? [];
    expect(wrong).not.toEqual([]);
    for (const file of wrong) expect(violationsOf(rule, [file]), file.text).toHaveLength(1);
  });
});

describe("the rules let through what is right", () => {
  const right: readonly SourceFile[] = [
    core(
      "domain/gates/run-at.ts",
      `import type { Gate } from "./gate.ts";\nimport { line } from "../line.ts";`,
    ),
    core("domain/openings.ts", `import { Cron } from "croner";`),
    core("domain/settlement.ts", `// never import { claim } from "../store/claim.ts", nor Date.now()\n`),
    core(
      "domain/settlement.ts",
      `/** See signalbox.task_run: UPDATE signalbox.task_run would skip the guard. */`,
    ),
    core("domain/backoff.ts", `const at = new Date(now.getTime() + delayMs);`),
    core(
      "store/task-runs/claim.ts",
      'import { sql } from "../sql.ts";\nsql<Claim>("claim")`DELETE FROM signalbox.ready`;',
    ),
    core(
      "engine/promoter.ts",
      `import { createLoop } from "./loop.ts";\nimport { hostname } from "node:os";`,
    ),
    core("engine/scheduler.ts", `import { claimOnce } from "./claimer.ts";`),
    core("testing/manual-scheduler.ts", `import { claimOnce } from "../engine/claimer.ts";`),
    core(
      "engine/promoter.test.ts",
      `import { claimOnce } from "./claimer.ts";\nimport { test } from "vitest";`,
    ),
    core("index.ts", `export { createScheduler } from "./engine/scheduler.ts";`),
    core("engine/loop.ts", "a();\n".repeat(LINES_AT_MOST)),
    { path: "packages/contract/src/task.ts", text: `import type { TaskId } from "@signalbox/core/domain";` },
  ];

  test.each(Object.entries(RULES))("%s", (_, rule) => {
    expect(violationsOf(rule, right)).toEqual([]);
  });
});

function core(path: string, text: string): SourceFile {
  return { path: `packages/core/src/${path}`, text };
}

function sourcesUnder(folder: string): readonly SourceFile[] {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .filter((path) => /\.tsx?$/.test(path) && !/\/(?:node_modules|dist)\//.test(path))
    .map((path) => ({ path, text: readFileSync(fileURLToPath(new URL(path, root)), "utf8") }));
}
