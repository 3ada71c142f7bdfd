import type { InstanceHealth, Overview } from "@signalbox/core";
import { describe, expect, test } from "vitest";
import { REST } from "./bounded-label.ts";
import { createMetrics, type MeasuredEvent, type Metrics } from "./metrics.ts";

const NAMED = { taskRunId: "r", taskId: "t", title: "orders add column", kind: "apply", attempt: 1 };
const CLAIMED = { type: "task_run.claimed", ...NAMED, claimNo: 1, waitedMs: 2_000, availableMs: 10 };
const SETTLED = {
  type: "task_run.settled",
  ...NAMED,
  status: "FAILED",
  outcome: "HANDLER_FAILED",
  message: "deadlock detected",
  ranMs: 1_500,
  nextTaskRunId: "s",
  nextInMs: 1_000,
};

function record(metrics: Metrics, ...events: readonly unknown[]): void {
  for (const event of events) metrics.record(event as MeasuredEvent);
}

/** The lines of one metric, without its help. */
async function linesOf(metrics: Metrics, name: string): Promise<readonly string[]> {
  const text = await metrics.render();
  return text.split("\n").filter((line) => line.startsWith(name));
}

describe("an event is counted", () => {
  test("by its type, whatever it is", async () => {
    const metrics = createMetrics();

    record(metrics, { type: "gate.lock_missed" }, { type: "gate.lock_missed" }, { type: "listener.lost" });

    expect(await linesOf(metrics, "signalbox_events_total")).toEqual([
      'signalbox_events_total{type="gate.lock_missed"} 2',
      'signalbox_events_total{type="listener.lost"} 1',
    ]);
  });

  test("with how long the task run waited, was available and ran", async () => {
    const metrics = createMetrics();

    record(metrics, CLAIMED, SETTLED, { type: "task_run.promoted", taskRunIds: ["a", "b", "c"] });

    expect(await linesOf(metrics, "signalbox_task_run_wait_seconds_sum")).toEqual([
      'signalbox_task_run_wait_seconds_sum{kind="apply"} 2',
    ]);
    expect(await linesOf(metrics, "signalbox_task_run_available_seconds_sum")).toEqual([
      'signalbox_task_run_available_seconds_sum{kind="apply"} 0.01',
    ]);
    expect(await linesOf(metrics, "signalbox_task_run_duration_seconds_sum")).toEqual([
      'signalbox_task_run_duration_seconds_sum{kind="apply",status="FAILED"} 1.5',
    ]);
    expect(await linesOf(metrics, "signalbox_task_runs")).toEqual([
      'signalbox_task_runs_settled_total{kind="apply",outcome="HANDLER_FAILED"} 1',
      'signalbox_task_runs_retried_total{kind="apply"} 1',
      "signalbox_task_runs_promoted_total 3",
    ]);
  });

  test("with when each loop passed last, and how long it took", async () => {
    const metrics = createMetrics();
    const before = Date.now() / 1_000;

    record(metrics, { type: "loop.passed", loop: "promoter", tookMs: 20 });
    record(metrics, { type: "loop.failed", loop: "claimer" });

    const [line = ""] = await linesOf(metrics, "signalbox_loop_last_success_timestamp_seconds");
    expect(line).toMatch(/\{loop="promoter"\}/);
    expect(Number(line.split(" ").at(-1))).toBeGreaterThanOrEqual(before);
    expect(await linesOf(metrics, "signalbox_loop_pass_duration_seconds_sum")).toEqual([
      'signalbox_loop_pass_duration_seconds_sum{loop="promoter"} 0.02',
    ]);
    expect(await linesOf(metrics, "signalbox_loop_failures_total")).toEqual([
      'signalbox_loop_failures_total{loop="claimer"} 1',
    ]);
  });

  test("with the age of the oldest transaction, which is 0 when none is open", async () => {
    const metrics = createMetrics();
    const watched = { type: "database.watched", overlong: true, notifyQueue: 0.5 };

    record(metrics, { ...watched, oldestTransaction: { pid: 1, applicationName: "etl", openMs: 400_000 } });
    expect(await linesOf(metrics, "signalbox_oldest_transaction_seconds")).toEqual([
      "signalbox_oldest_transaction_seconds 400",
    ]);

    record(metrics, { ...watched, overlong: false, oldestTransaction: null });
    expect(await linesOf(metrics, "signalbox_oldest_transaction_seconds")).toEqual([
      "signalbox_oldest_transaction_seconds 0",
    ]);
  });
});

describe("labels", () => {
  test("cannot explode: after so many values the rest share one", async () => {
    const metrics = createMetrics();

    for (let count = 0; count < 5_000; count += 1) {
      const name = `made up ${count}`;
      record(metrics, { ...CLAIMED, kind: name }, { ...SETTLED, kind: name, outcome: name });
      record(metrics, { type: "loop.passed", loop: name, tookMs: 1 }, { type: "loop.failed", loop: name });
    }

    const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith("signalbox_"));
    expect(lines.length).toBeLessThan(6_000);
    expect(lines).toContain(`signalbox_task_run_wait_seconds_count{kind="${REST}"} 4900`);
    expect(lines).toContain(`signalbox_loop_failures_total{loop="${REST}"} 4970`);
  });

  test("are never an id, a title or a message", async () => {
    const metrics = createMetrics();

    record(metrics, CLAIMED, SETTLED);

    expect(await metrics.render()).not.toMatch(/orders add column|deadlock|taskRunId/);
  });

  test("stay one value whatever a kind is called", async () => {
    const metrics = createMetrics();

    record(metrics, { ...CLAIMED, kind: 'a"} 1\n\\' });

    expect(await linesOf(metrics, "signalbox_task_run_wait_seconds_count")).toEqual([
      'signalbox_task_run_wait_seconds_count{kind="a\\"} 1\\n\\\\"} 1',
    ]);
  });
});

const HEALTH: InstanceHealth = { ready: false, problems: ["SLOTS_STUCK"], slots: 4, executing: 3, stuck: 2 };
const OVERVIEW: Overview = {
  computedAt: new Date(),
  timeline: 1,
  countedUpTo: 10_000_000,
  waiting: { RUN_AT: 3, RESOURCE_BUSY: 2 },
  available: 5,
  running: 7,
  instances: [],
};

describe("what is asked for when the metrics are read", () => {
  test("is the health of the instance", async () => {
    const metrics = createMetrics();
    metrics.watch({ health: () => HEALTH });

    expect(await linesOf(metrics, "signalbox_instance_")).toEqual([
      "signalbox_instance_ready 0",
      "signalbox_instance_slots 4",
      "signalbox_instance_slots_busy 3",
      "signalbox_instance_slots_stuck 2",
    ]);
  });

  test("is what waits and runs in the whole database, by one question", async () => {
    const metrics = createMetrics();
    let asked = 0;
    metrics.watch({
      overview: async () => {
        asked += 1;
        return OVERVIEW;
      },
    });

    expect(await linesOf(metrics, "signalbox_task_runs_")).toEqual([
      "signalbox_task_runs_promoted_total 0",
      'signalbox_task_runs_waiting{cause="RUN_AT"} 3',
      'signalbox_task_runs_waiting{cause="RESOURCE_BUSY"} 2',
      'signalbox_task_runs_active{status="AVAILABLE"} 5',
      'signalbox_task_runs_active{status="RUNNING"} 7',
    ]);
    expect(asked).toBe(1);
  });

  test("is left out when the database does not answer, and the rest is told", async () => {
    const metrics = createMetrics();
    metrics.watch({ overview: () => Promise.reject(new Error("away")) });
    record(metrics, CLAIMED);

    expect(await linesOf(metrics, "signalbox_task_runs_waiting")).toEqual([]);
    expect(await linesOf(metrics, "signalbox_task_run_wait_seconds_count")).toHaveLength(1);
  });
});

test("names are those that Prometheus asks for", async () => {
  const metrics = createMetrics();
  metrics.watch({ overview: async () => OVERVIEW, health: () => HEALTH });
  const types = [...(await metrics.render()).matchAll(/^# TYPE (signalbox_\S+) (\w+)$/gm)];

  expect(types.length).toBeGreaterThan(15);
  for (const [, name = "", type] of types) {
    expect(name).toMatch(/^signalbox(?:_[a-z]+)+$/);
    expect(name.endsWith("_total"), name).toBe(type === "counter");
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
  }
});
