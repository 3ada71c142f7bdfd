import { randomUUID } from "node:crypto";
import { setImmediate as yieldTurn } from "node:timers/promises";
import pg from "pg";
import { afterEach, expect, inject, it } from "vitest";
import { createScheduler } from "../../engine/scheduler.ts";
import { defineTask } from "../../executors/define-task.ts";
import { createManualScheduler } from "../../testing/manual-scheduler.ts";
import { openPool } from "../database.ts";
import { migrate } from "./migrate.ts";
import { readMigrations } from "./read-migrations.ts";
import { requireSchema } from "./require-schema.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, query_timeout: 30_000 });
  await client.connect();
  return client;
}

async function emptyDatabase(): Promise<{ readonly url: string; readonly client: pg.Client }> {
  const name = `sb_migrate_${randomUUID().slice(0, 8)}`;
  const admin = await connect(inject("adminUrl"));
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(inject("adminUrl"));
  url.pathname = `/${name}`;
  const client = await connect(url.href);
  cleanUps.push(async () => {
    await client.end();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  });
  return { url: url.href, client };
}

/** A task run as an instance of migration 0001 writes it. */
async function insertAs0001(client: pg.Client, status: "PENDING" | "RUNNING"): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `WITH new_task AS (
       INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated, resources)
       VALUES (signalbox.new_id(), 'noop', 'noop', 'null', 5, $2, true, '[{"name": "db", "mode": "shared"}]')
       RETURNING id)
     INSERT INTO signalbox.task_run (id, task_id, kind, priority, attempt, gated, status, enqueued_at, claim_no, claimed_by, claimed_at)
     SELECT signalbox.new_id(), id, 'noop', 5, 1, true, $1::text, now(),
            CASE WHEN $1 = 'RUNNING' THEN nextval('signalbox.claim_no') END,
            CASE WHEN $1 = 'RUNNING' THEN gen_random_uuid() END,
            CASE WHEN $1 = 'RUNNING' THEN clock_timestamp() END
       FROM new_task
     RETURNING id`,
    [status, JSON.stringify({ attempts: 1, backoff: { firstMs: 0, factor: 1, maxMs: 0 }, onLost: "retry" })],
  );
  return rows[0]?.id ?? "";
}

/** Goes on as instances of 0001 do, straight from PENDING to RUNNING to DONE, until it is told to stop. */
function writeAs0001(url: string): { readonly stop: () => Promise<number> } {
  let stopped = false;
  const work = async (): Promise<number> => {
    const client = await connect(url);
    let written = 0;
    while (!stopped) {
      const id = await insertAs0001(client, "PENDING");
      await client.query(
        `UPDATE signalbox.task_run
            SET status = 'RUNNING', claim_no = nextval('signalbox.claim_no'), claimed_by = gen_random_uuid(),
                claimed_at = clock_timestamp(), row_version = row_version + 1
          WHERE id = $1 AND status = 'PENDING'`,
        [id],
      );
      await client.query(
        `UPDATE signalbox.task_run
            SET status = 'DONE', finished_at = clock_timestamp(), outcome = 'SUCCEEDED', row_version = row_version + 1
          WHERE id = $1 AND status = 'RUNNING'`,
        [id],
      );
      written += 1;
      await yieldTurn();
    }
    await client.end();
    return written;
  };
  const writing = work();
  return {
    stop: async () => {
      stopped = true;
      return await writing;
    },
  };
}

async function countByStatus(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ status: string; count: string }>(
    "SELECT status, count(*) FROM signalbox.task_run GROUP BY status",
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}

it("applies every migration once, however many processes start at the same time", async () => {
  const { url, client } = await emptyDatabase();

  const answers = await Promise.all([migrate({ url }), migrate({ url }), migrate({ url }), migrate({ url })]);
  const again = await migrate({ url });

  const names = readMigrations().map(({ name }) => name);
  expect(answers.flatMap(({ applied }) => applied).toSorted()).toEqual(names);
  expect(again.applied).toEqual([]);
  const { rows } = await client.query("SELECT number, step FROM signalbox.migration");
  expect(rows).toHaveLength(readMigrations().reduce((sum, { steps }) => sum + steps.length, 0));
});

it("brings AVAILABLE to a 0001 database with PENDING and RUNNING rows while a 0001 writer goes on", async () => {
  const { url, client } = await emptyDatabase();
  await migrate({ url, upTo: 1 });
  const pending = await insertAs0001(client, "PENDING");
  const running = await insertAs0001(client, "RUNNING");
  await expect(
    client.query("UPDATE signalbox.task_run SET status = 'AVAILABLE' WHERE id = $1", [pending]),
  ).rejects.toThrow("task_run_status_check");
  // A writer in the middle of a transaction when the migration comes: it is waited for, nobody else waits long.
  const slow = await connect(url);
  await slow.query("BEGIN");
  await slow.query("UPDATE signalbox.task_run SET row_version = row_version + 1 WHERE id = $1", [running]);
  const writer = writeAs0001(url);

  const migrating = migrate({ url, upTo: 2 });
  await waitForLockWait(client);
  await slow.query("COMMIT");
  await slow.end();
  await migrating;
  const before = (await countByStatus(client))["DONE"] ?? 0;
  await waitFor(async () => ((await countByStatus(client))["DONE"] ?? 0) > before);
  const written = await writer.stop();

  expect(await countByStatus(client)).toEqual({ PENDING: 1, RUNNING: 1, DONE: written });
  await client.query(
    "UPDATE signalbox.task_run SET status = 'AVAILABLE', available_at = now() WHERE id = $1",
    [pending],
  );
  expect((await countByStatus(client))["AVAILABLE"]).toBe(1);
  const { rows } = await client.query<{
    validated: boolean;
    valid: boolean;
    index: string;
    leftovers: string;
  }>(
    `SELECT (SELECT convalidated FROM pg_constraint WHERE conname = 'task_run_status_check') AS validated,
            (SELECT indisvalid FROM pg_index WHERE indexrelid = 'signalbox.task_run_active_status_id'::regclass) AS valid,
            pg_get_indexdef('signalbox.task_run_active_status_id'::regclass) AS index,
            (SELECT count(*) FROM pg_class WHERE relname LIKE '%_new') AS leftovers`,
  );
  expect(rows[0]).toMatchObject({ validated: true, valid: true, leftovers: "0" });
  expect(rows[0]?.index).toMatch(/\(status, id\) WHERE .*AVAILABLE/);
});

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error("The condition did not come true within 30 s");
    await yieldTurn();
  }
}

async function waitForLockWait(client: pg.Client): Promise<void> {
  await waitFor(async () => {
    const { rowCount } = await client.query(
      "SELECT FROM pg_stat_activity WHERE application_name = 'signalbox migrate' AND wait_event_type = 'Lock'",
    );
    return rowCount === 1;
  });
}

it("goes on where a process died: an invalid index is built anew", async () => {
  const { url, client } = await emptyDatabase();
  await migrate({ url, upTo: 1 });
  // What CREATE INDEX CONCURRENTLY leaves behind when it dies is an index that is never used.
  await client.query(`CREATE INDEX task_run_active_status_id_new ON signalbox.task_run (status)`);

  await migrate({ url, upTo: 2 });

  const { rows } = await client.query(
    "SELECT pg_get_indexdef('signalbox.task_run_active_status_id'::regclass) AS index",
  );
  expect(rows[0].index).toContain("(status, id)");
});

it("takes the open rows of a 0001 database along into the work sets, and they run", async () => {
  const { url, client } = await emptyDatabase();
  await migrate({ url, upTo: 1 });
  for (let i = 0; i < 3; i++) await insertAs0001(client, "PENDING");
  await insertAs0001(client, "RUNNING");

  await migrate({ url });
  const scheduler = await createManualScheduler({
    databaseUrl: url,
    tasks: [defineTask({ kind: "noop", run: () => "ok" })],
  });
  cleanUps.push(() => scheduler.close());
  await scheduler.rescue();
  await scheduler.runUntilIdle();

  // The one that was RUNNING belonged to nobody who lives: it is rescued and its next attempt runs.
  expect(await countByStatus(client)).toEqual({ DONE: 4, FAILED: 1 });
  expect((await scheduler.checkInvariants({ since: new Date(0) })).violations).toEqual([]);
});

it("knows which versions were DONE on a resource before it kept account of them", async () => {
  const { url, client } = await emptyDatabase();
  await migrate({ url, upTo: 9 });
  await client.query(`
    WITH old AS (
      INSERT INTO signalbox.task (id, kind, title, input, priority, version, resources, policy, gated)
      SELECT gen_random_uuid(), 'noop', 'old', 'null', 5, string_to_array(v, '.')::bigint[],
             '[{"name": "orders", "mode": "exclusive"}]', '{}', true
        FROM unnest('{1.9,1.10,2}'::text[]) AS v
      RETURNING id, version
    )
    INSERT INTO signalbox.task_run (id, task_id, kind, priority, attempt, gated, status, enqueued_at, available_at, claimed_at, claim_no,
                                    claimed_by, finished_at, outcome)
    SELECT gen_random_uuid(), id, 'noop', 5, 1, true, CASE WHEN version = '{2}' THEN 'FAILED' ELSE 'DONE' END, now(), now(), now(), 1,
           gen_random_uuid(), now(), 'X'
      FROM old`);

  await migrate({ url });

  const { rows } = await client.query(
    "SELECT name, array_to_string(version, '.') AS version FROM signalbox.done_version",
  );
  expect(rows).toEqual([{ name: "orders", version: "1.10" }]);
});

it("gives what is AVAILABLE its place by the rules under which it came there, and it runs", async () => {
  const { url, client } = await emptyDatabase();
  await migrate({ url, upTo: 10 });
  await client.query(`
    INSERT INTO signalbox.queue (name, rules_no) VALUES ('default', 3);
    WITH given AS (
      INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated)
      SELECT signalbox.new_id(), 'noop', 'noop', '1', 5, '{"attempts": 1, "onLost": "retry"}', false FROM generate_series(1, 3)
      RETURNING id
    ), begun AS (
      INSERT INTO signalbox.task_run (id, task_id, kind, priority, attempt, gated, status, enqueued_at, available_at)
      SELECT signalbox.new_id(), id, 'noop', 5, 1, false, 'AVAILABLE', now(), now() FROM given
      RETURNING id, available_at
    )
    INSERT INTO signalbox.ready (kind, priority, available_at, task_run_id, rules_no)
    SELECT 'noop', 5, available_at, id, row_number() OVER (ORDER BY id) FROM begun;
    -- What a process that died while it built the index has left.
    CREATE INDEX ready_by_rules ON signalbox.ready (kind)`);

  await migrate({ url });
  const scheduler = await createManualScheduler({
    databaseUrl: url,
    tasks: [defineTask({ kind: "noop", run: () => "ok" })],
  });
  cleanUps.push(() => scheduler.close());

  expect(await scheduler.claim()).toHaveLength(1);
  // The other two came there under older rules.
  expect(await scheduler.sweep()).toMatchObject({ demoted: [{}, {}], promoted: [{}, {}] });
  expect((await scheduler.checkInvariants({ since: new Date(0) })).violations).toEqual([]);
});

it("takes instances that were dead before for lost: nobody knows any more", async () => {
  const { url, client } = await emptyDatabase();
  await migrate({ url, upTo: 20 });
  const join = (state: string): string => `
    INSERT INTO signalbox.instance (boot_id, name, state, kinds, slots, expires_at)
    VALUES (gen_random_uuid(), '${state}', '${state}', '{}', 1, now())`;
  await client.query(`${join("LIVE")}; ${join("DEAD")}`);

  await migrate({ url });

  const { rows } = await client.query("SELECT name, left_at FROM signalbox.instance ORDER BY name");
  expect(rows).toEqual([
    { name: "DEAD", left_at: null },
    { name: "LIVE", left_at: null },
  ]);
  await expect(client.query("UPDATE signalbox.instance SET left_at = now()")).rejects.toMatchObject({
    constraint: "instance_that_left_is_dead",
  });
});

it("refuses a database whose migrations had another text, and one that is newer than this version", async () => {
  const { url, client } = await emptyDatabase();
  await migrate({ url });

  await client.query("UPDATE signalbox.migration SET checksum = 'other' WHERE number = 2 AND step = 1");
  await expect(migrate({ url })).rejects.toMatchObject({ code: "MIGRATION_CHANGED" });
  await client.query("DELETE FROM signalbox.migration WHERE number = 2");
  await client.query("INSERT INTO signalbox.migration VALUES (9999, 0, '9999_later', 'x')");
  await expect(migrate({ url })).rejects.toMatchObject({ code: "SCHEMA_TOO_NEW" });
});

it("keeps an instance out of a schema that it was not written for", async () => {
  const { url, client } = await emptyDatabase();
  const pool = openPool({ url, size: 1, queryTimeoutMs: 5_000, applicationName: "test" });
  cleanUps.push(() => pool.close());

  await expect(requireSchema(pool)).rejects.toMatchObject({ code: "SCHEMA_NOT_CURRENT" });
  await migrate({ url, upTo: 2 });
  await expect(requireSchema(pool)).rejects.toMatchObject({ code: "SCHEMA_NOT_CURRENT" });
  await migrate({ url });
  await expect(requireSchema(pool)).resolves.toBeUndefined();
  // The last step of the newest, as if a process had died before it.
  await client.query(`
    DELETE FROM signalbox.migration
     WHERE (number, step) = (SELECT number, step FROM signalbox.migration ORDER BY number DESC, step DESC LIMIT 1)`);
  await expect(requireSchema(pool)).rejects.toMatchObject({ code: "SCHEMA_NOT_CURRENT" });
});

it("says what is applied and what is left, before and after", async () => {
  const { url } = await emptyDatabase();
  const scheduler = createScheduler({ databaseUrl: url });
  cleanUps.push(async () => await scheduler.stop());
  const states = async (): Promise<readonly string[]> =>
    (await scheduler.migrations()).map(({ number, state }) => `${number} ${state}`);
  const numbers = readMigrations().map(({ number }) => number);

  expect(await states()).toEqual(numbers.map((number) => `${number} pending`));

  await migrate({ url, upTo: 2 });
  expect(await states()).toEqual(numbers.map((number) => `${number} ${number <= 2 ? "applied" : "pending"}`));

  await scheduler.migrate();
  const reports = await scheduler.migrations();
  expect(reports.map(({ state, left }) => [state, left])).toEqual(numbers.map(() => ["applied", []]));
  expect(reports.every(({ appliedAt }) => appliedAt instanceof Date)).toBe(true);
});
