/**
 * The events of the scheduler as Prometheus metrics, in a registry of their own. Labels are kinds, outcomes,
 * loops, causes and states, each bounded; never an id, a title or a message.
 */

import type { Scheduler, SchedulerEvent } from "@signalbox/core";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { createBoundedLabel } from "./bounded-label.ts";
import { addInstanceGauges, addOverviewGauges } from "./gauges.ts";

/** An error may be there or told by its message: nothing here looks at it. */
type Measured<Event> = Event extends { readonly error: unknown } ? Omit<Event, "error"> : Event;
/** An event of the scheduler, also without its error. */
export type MeasuredEvent = Measured<SchedulerEvent>;

/** Counters, histograms and gauges of one process. */
export interface Metrics {
  /** For `onEvent`. */
  readonly record: (event: MeasuredEvent) => void;
  /** Adds what is asked for when the metrics are read: the instance's health, and counts over the whole database. */
  readonly watch: (scheduler: Partial<Pick<Scheduler, "health" | "overview">>) => void;
  readonly contentType: string;
  /** The text that Prometheus reads. */
  readonly render: () => Promise<string>;
}

/** A registry of its own, with the metrics of the Node process in it: two in one process do not disturb each other. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const measure = measures(registry);
  const events = new Counter({
    name: "signalbox_events_total",
    help: "Events of the scheduler by their type.",
    labelNames: ["type"],
    registers: [registry],
  });
  return {
    record: (event) => {
      events.inc({ type: event.type });
      const take = measure[event.type] as ((event: MeasuredEvent) => void) | undefined;
      take?.(event);
    },
    watch: ({ health, overview }) => {
      if (health !== undefined) addInstanceGauges(registry, health);
      if (overview !== undefined) addOverviewGauges(registry, overview);
    },
    contentType: registry.contentType,
    render: async () => await registry.metrics(),
  };
}

const MOST_KINDS = 100;
const MOST_OUTCOMES = 50;
const MOST_LOOPS = 30;

const WAIT_BUCKETS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200];
const RUN_BUCKETS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200];
const PASS_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

type Measures = {
  readonly [Type in MeasuredEvent["type"]]?: (event: Extract<MeasuredEvent, { type: Type }>) => void;
};

function measures(registry: Registry): Measures {
  return { ...taskRunMeasures(registry), ...loopMeasures(registry), ...databaseMeasures(registry) };
}

function taskRunMeasures(registry: Registry): Measures {
  const registers = [registry];
  const kindOf = createBoundedLabel(MOST_KINDS);
  const outcomeOf = createBoundedLabel(MOST_OUTCOMES);
  const waited = new Histogram({
    name: "signalbox_task_run_wait_seconds",
    help: "From the enqueueing of a task run, or its run time where that is later, to its claim.",
    labelNames: ["kind"],
    buckets: WAIT_BUCKETS,
    registers,
  });
  const available = new Histogram({
    name: "signalbox_task_run_available_seconds",
    help: "From AVAILABLE to the claim.",
    labelNames: ["kind"],
    buckets: WAIT_BUCKETS,
    registers,
  });
  const ran = new Histogram({
    name: "signalbox_task_run_duration_seconds",
    help: "How long executions took, by the status that they led to.",
    labelNames: ["kind", "status"],
    buckets: RUN_BUCKETS,
    registers,
  });
  const settled = new Counter({
    name: "signalbox_task_runs_settled_total",
    help: "Task runs that ended on this instance.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  const retried = new Counter({
    name: "signalbox_task_runs_retried_total",
    help: "Settled task runs that a new attempt follows.",
    labelNames: ["kind"],
    registers,
  });
  const promoted = new Counter({
    name: "signalbox_task_runs_promoted_total",
    help: "Task runs that this instance made AVAILABLE.",
    registers,
  });
  return {
    "task_run.promoted": ({ taskRunIds }) => promoted.inc(taskRunIds.length),
    "task_run.claimed": ({ kind, waitedMs, availableMs }) => {
      waited.observe({ kind: kindOf(kind) }, seconds(waitedMs));
      available.observe({ kind: kindOf(kind) }, seconds(availableMs));
    },
    "task_run.settled": ({ kind, status, outcome, ranMs, nextTaskRunId }) => {
      settled.inc({ kind: kindOf(kind), outcome: outcomeOf(outcome) });
      ran.observe({ kind: kindOf(kind), status }, seconds(ranMs));
      if (nextTaskRunId !== null) retried.inc({ kind: kindOf(kind) });
    },
  };
}

function loopMeasures(registry: Registry): Measures {
  const registers = [registry];
  const loopOf = createBoundedLabel(MOST_LOOPS);
  const passed = new Histogram({
    name: "signalbox_loop_pass_duration_seconds",
    help: "How long passes took that ended well.",
    labelNames: ["loop"],
    buckets: PASS_BUCKETS,
    registers,
  });
  const passedAt = new Gauge({
    name: "signalbox_loop_last_success_timestamp_seconds",
    help: "When a pass ended well for the last time. A loop that is silent for more than a minute or two hangs.",
    labelNames: ["loop"],
    registers,
  });
  const failed = new Counter({
    name: "signalbox_loop_failures_total",
    help: "Passes that failed. The loop goes on.",
    labelNames: ["loop"],
    registers,
  });
  return {
    "loop.passed": ({ loop, tookMs }) => {
      passed.observe({ loop: loopOf(loop) }, seconds(tookMs));
      passedAt.setToCurrentTime({ loop: loopOf(loop) });
    },
    "loop.failed": ({ loop }) => failed.inc({ loop: loopOf(loop) }),
  };
}

function databaseMeasures(registry: Registry): Measures {
  const registers = [registry];
  const renewed = new Histogram({
    name: "signalbox_lease_renewal_duration_seconds",
    help: "How long renewals of the lease took that succeeded.",
    buckets: PASS_BUCKETS,
    registers,
  });
  const renewedAt = new Gauge({
    name: "signalbox_lease_renewed_timestamp_seconds",
    help: "When the lease was renewed for the last time.",
    registers,
  });
  const oldest = new Gauge({
    name: "signalbox_oldest_transaction_seconds",
    help: "Age of the oldest open transaction of the database, looked at once a minute.",
    registers,
  });
  const queue = new Gauge({
    name: "signalbox_notify_queue_ratio",
    help: "How full the queue of NOTIFY is, from 0 to 1, looked at once a minute.",
    registers,
  });
  return {
    "lease.renewed": ({ tookMs }) => {
      renewed.observe(seconds(tookMs));
      renewedAt.setToCurrentTime();
    },
    "database.watched": ({ oldestTransaction, notifyQueue }) => {
      oldest.set(seconds(oldestTransaction?.openMs ?? 0));
      queue.set(notifyQueue);
    },
  };
}

function seconds(ms: number): number {
  return ms / 1_000;
}
