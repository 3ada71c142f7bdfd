/** What the test and an instance's process (`instance-process.mjs`) tell each other. Everything is JSON. */

import type { Scheduler, SchedulerEvent, SchedulerOptions } from "@signalbox/core";

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
      /** Where it ends itself, from its first statement on. */
      readonly dies: DyingPoint | null;
    }
  /** Ends itself as if killed, at the next point of this sort that it comes to. Null: it does not any more. */
  | { readonly kind: "die"; readonly point: DyingPoint | null }
  /** Calls its own scheduler, as a service does that has one. */
  | ({ readonly kind: "act"; readonly requestNo: number } & Act)
  /** Leaves the cluster and ends. */
  | { readonly kind: "stop" }
  /** Asks what it holds. */
  | { readonly kind: "list"; readonly requestNo: number };

/** A call of the scheduler, with what it takes. */
export interface Act {
  readonly name: keyof Scheduler;
  readonly args: readonly unknown[];
}

/** A point in an instance's life at which it can be killed exactly. */
export interface DyingPoint {
  /** By which it is known who died of it. */
  readonly name: string;
  /**
   * `sent`: the statement has been sent, its answer not seen. `before commit`, `after commit`: of its transaction.
   * `start`, `effect`: of an execution, right after the line in the trace.
   */
  readonly at: "sent" | "before commit" | "after commit" | "start" | "effect";
  /** The statement; nothing for an execution. */
  readonly text?: string;
  /** Only where this is among its values. */
  readonly value?: string;
  /** Only statements of this thread. Default: the main one. */
  readonly thread?: "lease";
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
  | ({ readonly kind: "acted"; readonly requestNo: number } & Acted)
  /** It tries again. */
  | { readonly kind: "not_started"; readonly message: string };

export interface Acted {
  readonly answer: unknown;
  readonly problem: ToldError | null;
}

/**
 * Every instance runs these. `bulk` is what is canceled and retried by its kind; `stubborn` does not stop when it is told to,
 * `overstaying` is taken for stuck then; `unseen` is for claims in an instance's name; `hungry` needs more memory than a
 * small instance has.
 */
export type WorkKind = "work" | "bulk" | "stubborn" | "overstaying" | "unseen" | "hungry";

export interface WorkInput {
  readonly ms: number;
  /** Attempts up to this one fail, after their effect. */
  readonly failUntil?: number;
  /** Writes a line to its log. */
  readonly prints?: boolean;
  /** Has nothing to tell when it has succeeded. */
  readonly silent?: boolean;
  /** Says that it gets on. */
  readonly progressEveryMs?: number;
  /** Goes on until there is this file. */
  readonly releaseFile?: string;
}

/** Of `deferring`: most of its executions ask for a time so much later. */
export interface DeferringInput {
  readonly ms: number;
  readonly delayMs: number;
}

/** Of `outside`: a job that is a file and has ended when it was asked so many times. */
export interface OutsideInput {
  readonly ms: number;
  readonly polls: number;
  readonly pollInMs: number;
  readonly deadlineInMs: number;
  /** Stores its handle before it begins. */
  readonly keeps?: boolean;
  /** Does the work itself and lets nothing go. */
  readonly stays?: boolean;
  /** Its first attempt fails. */
  readonly fails?: boolean;
}
