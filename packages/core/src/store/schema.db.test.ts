/** What the schema refuses, whatever the code does. */

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { exclusive } from "../domain/resource.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** A task run with these columns; the others stand in nobody's way. */
async function insertTaskRun(columns: Readonly<Record<string, unknown>>): Promise<string> {
  const row: Record<string, unknown> = {
    id: randomUUID(),
    task_id: randomUUID(),
    kind: "echo",
    priority: 5,
    attempt: 1,
    gated: false,
    status: "PENDING",
    ...columns,
  };
  const names = Object.keys(row);
  await box.query(
    `INSERT INTO signalbox.task_run (${names.join(", ")}) VALUES (${names.map((_, index) => `$${index + 1}`).join(", ")})`,
    Object.values(row),
  );
  return String(row["id"]);
}

const now = new Date();
const available = { status: "AVAILABLE", available_at: now };
const claim = { claim_no: 1, claimed_at: now, claimed_by: randomUUID() };
const running = { ...available, ...claim, status: "RUNNING" };
const ended = { ...running, status: "DONE", finished_at: now, outcome: "SUCCEEDED" };

describe("a task run that has ended never changes", () => {
  it.each(["DONE", "FAILED", "CANCELED"])("%s: no column of it can be written, by nobody", async (status) => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue((status === "FAILED" ? broken : echo).task(1));
    if (status === "CANCELED") await scheduler.cancel(taskRunId);
    await scheduler.runUntilIdle();
    expect(await box.statusOf(taskRunId)).toBe(status);
    const columns = await box.query<{ name: string; type: string }>(
      `SELECT column_name AS name, format_type(a.atttypid, a.atttypmod) AS type
         FROM information_schema.columns
         JOIN pg_attribute a ON a.attrelid = 'signalbox.task_run'::regclass AND a.attname = column_name
        WHERE table_schema = 'signalbox' AND table_name = 'task_run'`,
    );

    expect(columns.length).toBeGreaterThan(20);
    for (const { name, type } of columns) {
      const other = OTHER_VALUE[type];
      expect(other, type).toBeDefined();
      // Also where nothing would change: a rewrite of the row is a change of its version.
      for (const value of [other, name]) {
        const write = box.query(`UPDATE signalbox.task_run SET ${name} = ${value} WHERE id = $1`, [
          taskRunId,
        ]);
        await expect(write, `${name} = ${value}`).rejects.toThrow();
      }
    }
    await expect(
      box.query("UPDATE signalbox.task_run SET row_version = row_version + 1 WHERE id = $1", [taskRunId]),
    ).rejects.toMatchObject({ constraint: "task_run_ended_never_changes", code: "23001" });
  });

  it("but can be deleted, by whoever forgets old history", async () => {
    const id = await insertTaskRun(ended);

    await box.query("DELETE FROM signalbox.task_run WHERE id = $1", [id]);

    expect(await box.query("SELECT FROM signalbox.task_run")).toEqual([]);
  });
});

/** A value of each type that no test row has. */
const OTHER_VALUE: Readonly<Record<string, string>> = {
  uuid: "gen_random_uuid()",
  jsonb: "'{}'",
  text: "'PENDING'",
  smallint: "1",
  integer: "99",
  bigint: "99",
  boolean: "NOT gated",
  "timestamp with time zone": "clock_timestamp()",
};

describe("the stamps that a status needs are demanded", () => {
  it.each<[string, string, Readonly<Record<string, unknown>>]>([
    ["an unknown status", "task_run_status_check", { status: "WAITING" }],
    [
      "AVAILABLE without its time",
      "task_run_active_was_made_available",
      { ...available, available_at: null },
    ],
    [
      "RUNNING without the time it was made AVAILABLE",
      "task_run_active_was_made_available",
      { ...running, available_at: null },
    ],
    ["RUNNING without a claim number", "task_run_running_was_claimed", { ...running, claim_no: null }],
    [
      "RUNNING without the time of its claim",
      "task_run_running_was_claimed",
      { ...running, claimed_at: null },
    ],
    ["RUNNING without an owner", "task_run_running_was_claimed", { ...running, claimed_by: null }],
    ["DONE without its end", "task_run_ended_with_an_outcome", { ...ended, finished_at: null }],
    [
      "FAILED without an outcome",
      "task_run_ended_with_an_outcome",
      { ...ended, status: "FAILED", outcome: null },
    ],
    [
      "CANCELED without its end",
      "task_run_ended_with_an_outcome",
      { ...ended, status: "CANCELED", finished_at: null },
    ],
    ["RUNNING with an end and an outcome", "task_run_ended_with_an_outcome", { ...ended, status: "RUNNING" }],
    ["PENDING that still carries an owner", "task_run_pending_carries_no_stay", { claimed_by: randomUUID() }],
    [
      "PENDING that still carries the time it was AVAILABLE",
      "task_run_pending_carries_no_stay",
      { available_at: now },
    ],
    ["an attempt 0", "task_run_attempt_counts_from_one", { attempt: 0 }],
    [
      "more interruptions than attempts before it",
      "task_run_attempt_counts_from_one",
      { attempt: 2, interruptions: 2 },
    ],
  ])("%s is refused", async (_, constraint, columns) => {
    await expect(insertTaskRun(columns)).rejects.toMatchObject({ code: "23514", constraint });
  });

  it.each([
    ["PENDING", {}],
    ["AVAILABLE", available],
    ["RUNNING", running],
    ["DONE", ended],
  ])("%s with all of its own is accepted", async (_, columns) => {
    await insertTaskRun(columns);
  });
});

describe("a gated task run begins PENDING", () => {
  it("cannot be inserted AVAILABLE", async () => {
    await expect(insertTaskRun({ ...available, gated: true })).rejects.toMatchObject({
      constraint: "task_run_gated_begins_pending",
    });
  });

  it("can become AVAILABLE, which is a change of its row", async () => {
    const id = await insertTaskRun({ gated: true });

    await box.query(
      "UPDATE signalbox.task_run SET status = 'AVAILABLE', available_at = clock_timestamp(), row_version = 2 WHERE id = $1",
      [id],
    );

    expect(await box.statusOf(id)).toBe("AVAILABLE");
  });

  it("and a task says whether a gate applies to it", async () => {
    const insert = async (columns: string, values: string) =>
      await box.query(
        `INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated${columns})
         VALUES (gen_random_uuid(), 'echo', 'echo', '1', 5, '{}', ${values})`,
      );
    const refused = { constraint: "task_gated_where_a_gate_applies" };

    await insert("", "false");
    // One way only: a task that names no gate waits too where its queue has rules.
    await insert("", "true");
    await expect(insert(", run_id", "false, gen_random_uuid()")).rejects.toMatchObject(refused);
    await expect(insert(", run_at", "false, now()")).rejects.toMatchObject(refused);
    await expect(insert(", resources", `false, '[{"name": "a", "mode": "shared"}]'`)).rejects.toMatchObject(
      refused,
    );
    await expect(insert(", concurrency_key", "false, 'customer:7'")).rejects.toMatchObject(refused);
    await expect(insert(", rate", "false, 'sms'")).rejects.toMatchObject(refused);
    await expect(insert(", version", "true, '{1}'")).rejects.toMatchObject({
      constraint: "task_version_orders_a_resource",
    });
  });
});

describe("a rule in the table is one that can be kept", () => {
  it.each([
    ["queue (name, slot_limit)", "'mail', -1", "queue_limit_is_not_negative"],
    ["queue (name, weight)", "'mail', 0", "queue_weight_in_range"],
    ["queue (name, weight)", "'mail', 1001", "queue_weight_in_range"],
    ["key_limit (concurrency_key, slot_limit)", "'customer:7', 0", "key_limit_is_positive"],
    ["rate (name, amount, per_ms)", "'sms', 0, 1000", "rate_amount_in_range"],
    ["rate (name, amount, per_ms)", "'sms', 10001, 1000", "rate_amount_in_range"],
    ["rate (name, amount, per_ms)", "'sms', 1, 0", "rate_per_in_range"],
    ["rate (name, amount, per_ms)", "'sms', 1, 86400001", "rate_per_in_range"],
    ["pause (over, name, paused)", "'key', 'customer:7', true", "pause_over_check"],
    ["start_window (over, name, windows)", "'run', 'nightly', '[]'", "start_window_over_check"],
  ])("%s of %s is refused", async (into, values, constraint) => {
    await expect(box.query(`INSERT INTO signalbox.${into} VALUES (${values})`)).rejects.toMatchObject({
      constraint,
    });
  });
});

describe("what can exist only once", () => {
  it("an attempt of a task", async () => {
    const taskId = randomUUID();
    await insertTaskRun({ task_id: taskId });

    await expect(insertTaskRun({ task_id: taskId })).rejects.toMatchObject({
      code: "23505",
      constraint: "task_run_one_per_attempt",
    });
    await insertTaskRun({ task_id: taskId, attempt: 2 });
  });

  it("a slot of a scope", async () => {
    const hold = async (slot: number) =>
      await box.query(
        "INSERT INTO signalbox.hold (scope, slot, task_run_id) VALUES ('run:1', $1, gen_random_uuid())",
        [slot],
      );
    await hold(0);

    await expect(hold(0)).rejects.toMatchObject({ code: "23505", constraint: "hold_pkey" });
    await hold(1);
  });

  it("a version of what an event reports", async () => {
    const insert = async () =>
      await box.query(
        `INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
         VALUES ('run', '00000000-0000-7000-8000-000000000000', 1, 'run.ended', '{}')`,
      );
    await insert();

    await expect(insert()).rejects.toMatchObject({ constraint: "event_store_one_per_version" });
  });
});

describe("a hold", () => {
  it("has a holder or is kept for a task", async () => {
    await expect(
      box.query("INSERT INTO signalbox.hold (scope, slot) VALUES ('resource:a', 0)"),
    ).rejects.toMatchObject({ constraint: "hold_has_a_holder_or_is_reserved" });
  });
});

describe("the use of a resource", () => {
  it.each([
    [0, 0],
    [1, 0],
    [0, 7],
  ])("can be %i alone and %i shared", async (alone, together) => {
    await box.query("INSERT INTO signalbox.resource_use VALUES ('a', $1, $2)", [alone, together]);
  });

  it.each([
    [2, 0],
    [1, 1],
    [-1, 0],
    [0, -1],
  ])("cannot be %i alone and %i shared", async (alone, together) => {
    await expect(
      box.query("INSERT INTO signalbox.resource_use VALUES ('a', $1, $2)", [alone, together]),
    ).rejects.toMatchObject({ code: "23514", constraint: "resource_held_alone_or_shared" });
  });
});

describe("a run", () => {
  it("has ended exactly when nothing of it is open", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1), echo.task(2)], { run: { title: "nightly" } });
    const refused = { constraint: "run_ends_with_its_last_task" };

    for (const change of [
      "open_tasks = 0",
      "status = 'DONE'",
      "finished_at = now()",
      "open_tasks = -1, status = 'DONE', finished_at = now()",
      "open_tasks = 0, status = 'DONE'",
    ]) {
      await expect(box.query(`UPDATE signalbox.run SET ${change}`), change).rejects.toMatchObject(refused);
    }
    await expect(box.query("UPDATE signalbox.run SET task_limit = -1")).rejects.toMatchObject({
      constraint: "run_limit_is_not_negative",
    });
  });
});

describe("who waits", () => {
  it("is parked at one gate, since some time, or at none", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, { resources: [exclusive("a")] }));

    for (const change of ["blocked_on = 'RUN_AT'", "blocked_key = 'a'", "blocked_since = now()"]) {
      await expect(box.query(`UPDATE signalbox.waiting SET ${change}`), change).rejects.toMatchObject({
        constraint: "waiting_parked_at_one_gate",
      });
    }
  });

  it("leaves every line when it waits no more", async () => {
    const scheduler = await box.scheduler();
    const wants = { resources: [exclusive("a"), exclusive("b")] };
    await scheduler.enqueueMany([echo.task(1, wants), echo.task(2, wants)]);
    await scheduler.promote();
    expect(await box.query("SELECT FROM signalbox.line")).toHaveLength(2);

    await box.query("DELETE FROM signalbox.waiting");

    expect(await box.query("SELECT FROM signalbox.line")).toEqual([]);
  });
});
