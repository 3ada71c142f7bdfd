/**
 * Does a long history slow the hot path? Throughput of enqueue, claim and settle on an empty table, on millions of
 * finished task runs, and on those with the pruner at work. Own server, one run, rounds in turn; only the ratios mean
 * something: `nice npm run bench:retention -- 10000000`.
 */

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { defineTask } from "@signalbox/core";
import { createManualScheduler, createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import pg from "pg";
import { removePostgres } from "../packages/server/src/postgres/remove.ts";
import { startPostgres } from "../packages/server/src/postgres/start.ts";

const FINISHED = Number(process.argv[2] ?? 10_000_000);
const ROUNDS = Number(process.argv[3] ?? 7);
const BATCH = 500;
const BATCHES_PER_ROUND = 40;
const CHUNK = 250_000;
const DAY = 86_400_000;
const KEEP = { DONE: 7 * DAY, FAILED: 30 * DAY, CANCELED: 7 * DAY };

const nothing = defineTask({ kind: "nothing", run: () => null });

/** From 60 to 10 days ago, evenly: one in a hundred failed, with a result. */
async function fill({ url }: TestDatabase): Promise<void> {
  // Without the patience of a test: a chunk takes its time.
  const client = new pg.Client(url);
  await client.connect();
  const first = Date.now() - 60 * DAY;
  const step = (50 * DAY) / FINISHED;
  const id = (salt: string): string => `
    (lpad(to_hex((${first} + n * ${step}::float8)::bigint), 12, '0') || '7' || substr(md5('${salt}' || n), 1, 3)
      || '8' || substr(md5('${salt}' || n), 4, 15))::uuid`;
  const at = `to_timestamp((${first} + n * ${step}::float8) / 1000)`;
  for (let from = 0; from < FINISHED; from += CHUNK) {
    const rows = `generate_series(${from}, ${Math.min(FINISHED, from + CHUNK) - 1}) AS n`;
    await client.query(`
        INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated, created_at)
        SELECT ${id("task")}, 'old', 'an old task', '{"order": 4711}', 5,
               '{"onLost": "retry", "backoff": {"maxMs": 600000, "factor": 2, "firstMs": 1000}, "attempts": 1}', false, ${at}
          FROM ${rows};
        INSERT INTO signalbox.task_run (id, task_id, kind, priority, attempt, gated, status, enqueued_at, available_at,
                                        claim_no, claimed_at, claimed_by, finished_at, outcome, row_version)
        SELECT ${id("run")}, ${id("task")}, 'old', 5, 1, false, CASE n % 100 WHEN 0 THEN 'FAILED' ELSE 'DONE' END, ${at}, ${at},
               1, ${at}, '00000000-0000-4000-8000-000000000000', ${at}, 'X', 3
          FROM ${rows};
        INSERT INTO signalbox.task_run_result (task_run_id, error)
        SELECT ${id("run")}, '{"code": "HANDLER_FAILED", "message": "no"}' FROM ${rows} WHERE n % 100 = 0;`);
    process.stderr.write(`\r${from + CHUNK} of ${FINISHED} rows`);
  }
  await client.query("VACUUM ANALYZE");
  await client.end();
  process.stderr.write("\n");
}

/** Task runs per second, from the enqueue to their end. */
async function measure({ url }: TestDatabase): Promise<number> {
  const scheduler = await createManualScheduler({
    databaseUrl: url,
    tasks: [nothing],
    slots: BATCH,
    batchSize: BATCH,
    leaseMs: 3_600_000,
  });
  const specs = Array.from({ length: BATCH }, () => nothing.task(null));
  const beganAt = performance.now();
  for (let batch = 0; batch < BATCHES_PER_ROUND; batch += 1) {
    await scheduler.enqueueMany(specs);
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
  }
  const seconds = (performance.now() - beganAt) / 1_000;
  await scheduler.close();
  return (BATCH * BATCHES_PER_ROUND) / seconds;
}

/** As the loop of an instance does it: rests as long as it has worked. */
async function whilePruning<Result>(
  { url }: TestDatabase,
  act: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly prunedPerSecond: number }> {
  const pruner = await createManualScheduler({ databaseUrl: url, name: "pruner" });
  let over = false;
  const beganAt = performance.now();
  const pruning = (async () => {
    while (!over) {
      const from = performance.now();
      await pruner.prune(KEEP);
      await wait(performance.now() - from);
    }
  })();
  const result = await act();
  over = true;
  await pruning;
  const seconds = (performance.now() - beganAt) / 1_000;
  const pruned = pruner.events.reduce(
    (sum, event) => sum + (event.type === "retention.pruned" ? event.tasks : 0),
    0,
  );
  await pruner.close();
  return { result, prunedPerSecond: pruned / seconds };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const dir = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
chmodSync(dir, 0o755);
try {
  const postgres = await startPostgres({ dir, settings: { max_wal_size: "4GB" } });
  const [empty, full] = [await createTestDatabase(postgres.url), await createTestDatabase(postgres.url)];
  // When the server is stopped after a failure, its goodbye must not hide the failure.
  for (const { client } of [empty, full]) client.on("error", () => {});
  await fill(full);
  const note = (text: string): boolean => process.stderr.write(`${text}\n`);
  for (const database of [empty, full]) await measure(database);
  // First without the pruner at all: what it leaves to the vacuum goes on after it.
  const rates: Record<"empty" | "full" | "resting" | "pruning" | "pruned", number[]> = {
    empty: [],
    full: [],
    resting: [],
    pruning: [],
    pruned: [],
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await empty.clear();
    rates.empty.push(await measure(empty));
    rates.full.push(await measure(full));
    note(`empty ${rates.empty.at(-1)?.toFixed(0)}, full ${rates.full.at(-1)?.toFixed(0)}`);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const { result, prunedPerSecond } = await whilePruning(full, async () => await measure(full));
    rates.pruning.push(result);
    rates.pruned.push(prunedPerSecond);
    rates.resting.push(await measure(full));
    note(
      `pruning ${result.toFixed(0)} (${prunedPerSecond.toFixed(0)}), resting ${rates.resting.at(-1)?.toFixed(0)}`,
    );
  }
  const alone = await whilePruning(full, async () => await wait(10_000));
  const medians = Object.fromEntries(Object.entries(rates).map(([name, all]) => [name, median(all)]));
  const ratio = (one: keyof typeof rates, other: keyof typeof rates): number =>
    median(rates[one].map((rate, round) => rate / (rates[other][round] ?? Number.NaN)));
  const { rows } = await full.client.query(
    "SELECT pg_size_pretty(pg_database_size(current_database())) AS size, (SELECT count(*) FROM signalbox.retention_range) AS ranges",
  );
  process.stdout.write(
    `${JSON.stringify(
      {
        finished: FINISHED,
        medians,
        fullOverEmpty: ratio("full", "empty"),
        pruningOverResting: ratio("pruning", "resting"),
        prunedPerSecondAlone: alone.prunedPerSecond,
        ...rows[0],
      },
      null,
      2,
    )}\n`,
  );
  for (const database of [empty, full]) await database.drop();
  await postgres.stop();
} finally {
  await removePostgres(dir);
  rmSync(dir, { recursive: true, force: true });
}
