/** Whether an instance does its share of the work, by what it knows itself. Asks nobody, so it answers at once. */

import type { Memberships } from "./membership.ts";
import { createSelfWatch } from "./self-watch.ts";
import type { Emit } from "./telemetry.ts";

/**
 * `NOT_STARTED`: before `start`, and after `stop`. `NO_LEASE`: it lost its lease and has not joined again.
 * `DRAINING`: it was told to stop, or somebody has asked it to drain. `EVENT_LOOP_LAG`: something kept the process busy for more than a second.
 * `SLOTS_STUCK`: at least half of its slots are taken by executions that ignore their signal.
 */
export type HealthProblem = "NOT_STARTED" | "NO_LEASE" | "DRAINING" | "EVENT_LOOP_LAG" | "SLOTS_STUCK";

/** The answer of `health`. */
export interface InstanceHealth {
  /** There is no problem. One that is not ready needs no restart: what it cannot do, others do. */
  readonly ready: boolean;
  readonly problems: readonly HealthProblem[];
  readonly slots: number;
  /** Slots that are taken, by stuck executions too. */
  readonly executing: number;
  /** Executions that have ignored for longer than they may (`obeyMs`) that they were told to stop. */
  readonly stuck: number;
}

export interface HealthFacts {
  readonly state: "not_started" | "started" | "draining";
  readonly hasLease: boolean;
  readonly isLagging: boolean;
  readonly slots: number;
  readonly executing: number;
  readonly stuck: number;
}

export function judgeHealth({ state, hasLease, isLagging, ...counts }: HealthFacts): InstanceHealth {
  const problems: HealthProblem[] = [];
  if (state === "not_started") problems.push("NOT_STARTED");
  else if (!hasLease) problems.push("NO_LEASE");
  if (state === "draining") problems.push("DRAINING");
  if (isLagging) problems.push("EVENT_LOOP_LAG");
  if (counts.stuck > 0 && 2 * counts.stuck >= counts.slots) problems.push("SLOTS_STUCK");
  return { ready: problems.length === 0, problems, ...counts };
}

export interface HealthKeeper {
  readonly start: () => void;
  readonly drain: () => void;
  readonly stop: () => void;
  readonly read: () => InstanceHealth;
}

export function keepHealth(deps: {
  readonly memberships: Memberships;
  readonly slots: number;
  readonly emit: Emit;
}): HealthKeeper {
  const { memberships, slots, emit } = deps;
  const countStuck = (): number => memberships.stuck;
  const selfWatch = createSelfWatch({ slots, countStuck, emit });
  let state: HealthFacts["state"] = "not_started";
  return {
    start: () => {
      state = "started";
      selfWatch.start();
    },
    drain: () => {
      state = "draining";
    },
    stop: () => {
      state = "not_started";
      selfWatch.stop();
    },
    read: () =>
      judgeHealth({
        state: state === "started" && memberships.isDrained ? "draining" : state,
        hasLease: memberships.current?.lease.isTrusted() === true,
        isLagging: selfWatch.isLagging(),
        slots,
        executing: memberships.executing,
        stuck: countStuck(),
      }),
  };
}
