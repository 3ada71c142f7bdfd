/** What the test and an instance's process (`instance-process.mjs`) tell each other. Everything is JSON. */

import type { SchedulerEvent, SchedulerOptions } from "@signalbox/core";

/** What every instance of these tests runs with. */
export const INSTANCE_SETTINGS = {
  leaseMs: 3_000,
  beatMs: 500,
  graceMs: 500,
  pollIntervalMs: 1_000,
  slots: 6,
  poolSize: 5,
} as const satisfies Partial<SchedulerOptions>;

export type ToInstance =
  | {
      readonly kind: "start";
      readonly name: string;
      readonly databaseUrl: string;
      readonly traceFile: string;
      readonly settings: Partial<SchedulerOptions>;
    }
  /** Ends itself as if killed, at the next point of this sort that it comes to. */
  | ({ readonly kind: "die" } & DyingPoint)
  /** Asks what it holds. */
  | { readonly kind: "list"; readonly requestNo: number };

/** A point in an instance's life at which it can be killed exactly. */
export interface DyingPoint {
  /**
   * `sent`: the statement has been sent, its answer not seen. `before commit`, `after commit`: of its transaction.
   * `start`, `effect`: of an execution, right after the line in the trace.
   */
  readonly at: "sent" | "before commit" | "after commit" | "start" | "effect";
  /** What the statement has in its text; nothing for an execution. */
  readonly text?: string;
}

/** An error is told by its message and, where PostgreSQL or the system sent it, its code. */
export interface ToldError {
  readonly message: string;
  readonly code: string | null;
}

type Told<Event> = Event extends { readonly error: unknown } ? Omit<Event, "error"> & ToldError : Event;

export type InstanceEvent = Told<SchedulerEvent>;

/** What an instance holds: the claim number by task run. No boot id: it has lost its lease and not joined again. */
export interface Holding {
  readonly instanceId: string | null;
  readonly claims: Readonly<Record<string, number>>;
}

export type FromInstance =
  /** Where it found the library: these tests are about compiled code. */
  | { readonly kind: "loaded"; readonly core: string; readonly clock: number }
  | { readonly kind: "event"; readonly event: InstanceEvent }
  | ({ readonly kind: "holding"; readonly requestNo: number } & Holding)
  /** It tries again. */
  | { readonly kind: "not_started"; readonly message: string };

/** Every instance runs these. `stubborn` does not stop when it is told to; `unseen` is for claims in an
 * instance's name; `hungry` needs more memory than a small instance has. */
export type WorkKind = "work" | "stubborn" | "unseen" | "hungry";

export interface WorkInput {
  readonly ms: number;
  /** Attempts up to this one fail, after their effect. */
  readonly failUntil?: number;
}
