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
      readonly settings: typeof INSTANCE_SETTINGS;
    }
  /** Asks what it holds. */
  | { readonly kind: "list"; readonly requestNo: number };

/** An error is told by its message and, where PostgreSQL or the system sent it, its code. */
interface ToldError {
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
  | { readonly kind: "loaded"; readonly core: string }
  | { readonly kind: "event"; readonly event: InstanceEvent }
  | ({ readonly kind: "holding"; readonly requestNo: number } & Holding)
  /** It tries again. */
  | { readonly kind: "not_started"; readonly message: string };

/** Every instance runs these. `stubborn` does not stop when it is told to; `unseen` is for claims in an instance's name. */
export type WorkKind = "work" | "stubborn" | "unseen";

export interface WorkInput {
  readonly ms: number;
  /** Attempts up to this one fail, after their effect. */
  readonly failUntil?: number;
}
