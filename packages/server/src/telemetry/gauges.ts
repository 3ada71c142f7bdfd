/** What is asked for when the metrics are read, because no event tells it. */

import { setTimeout as wait } from "node:timers/promises";
import type { InstanceHealth, Overview } from "@signalbox/core";
import { Gauge, type Registry } from "prom-client";

export function addInstanceGauges(registry: Registry, health: () => InstanceHealth): void {
  const gauges: readonly (readonly [string, string, (health: InstanceHealth) => number])[] = [
    ["ready", "Whether this instance does its share: 1 or 0.", ({ ready }) => Number(ready)],
    ["slots", "Task runs that this instance works on at once, at most.", ({ slots }) => slots],
    ["slots_busy", "Slots that are taken.", ({ executing }) => executing],
    [
      "slots_stuck",
      "Slots taken by executions that ignore that they were told to stop.",
      ({ stuck }) => stuck,
    ],
  ];
  for (const [name, help, valueOf] of gauges) {
    new Gauge({
      name: `signalbox_instance_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(valueOf(health()));
      },
    });
  }
}

type Counts = Readonly<Record<string, number>>;

/** They are about the whole database, so every instance tells the same: take one of them, never their sum. */
export function addOverviewGauges(registry: Registry, overview: () => Promise<Overview>): void {
  const ask = askedNowAndThen(overview);
  const add = (label: string, { name, help, countsOf }: OverviewGauge): void => {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      async collect() {
        // What is not known is not told: an old number would look like a good one.
        this.reset();
        const answer = await ask();
        if (answer === null) return;
        for (const [value, count] of Object.entries(countsOf(answer))) this.set({ [label]: value }, count);
      },
    });
  };
  add("cause", {
    name: "signalbox_task_runs_waiting",
    help: "PENDING task runs by the gate under which they are parked.",
    countsOf: ({ waiting }) => waiting,
  });
  add("status", {
    name: "signalbox_task_runs_active",
    help: "AVAILABLE and RUNNING task runs.",
    countsOf: ({ available, running }) => ({ AVAILABLE: available, RUNNING: running }),
  });
  add("state", {
    name: "signalbox_instances",
    help: "Instances by their state; DEAD ones are seen for ten minutes.",
    countsOf: countStates,
  });
}

interface OverviewGauge {
  readonly name: string;
  readonly help: string;
  readonly countsOf: (overview: Overview) => Counts;
}

function countStates({ instances }: Overview): Counts {
  const count = (wanted: string): number => instances.filter(({ state }) => state === wanted).length;
  return { LIVE: count("LIVE"), DRAINING: count("DRAINING"), DEAD: count("DEAD") };
}

/** A scrape waits no longer for a database that is away, and asks it no more often. */
const PATIENCE_MS = 3_000;
const ASK_AGAIN_AFTER_MS = 2_000;

/** Null: no answer came in time. Several gauges that ask at once share one answer. */
function askedNowAndThen(overview: () => Promise<Overview>): () => Promise<Overview | null> {
  let asked: Promise<Overview | null> | null = null;
  let askedAtMs = 0;
  return async () => {
    if (asked === null || performance.now() - askedAtMs > ASK_AGAIN_AFTER_MS) {
      askedAtMs = performance.now();
      asked = Promise.race([overview().catch(() => null), wait(PATIENCE_MS, null, { ref: false })]);
    }
    return await asked;
  };
}
