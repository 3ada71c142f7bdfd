/** What the parent and an instance's process tell each other. Everything is JSON. */

import type { SchedulerEvent } from "@signalbox/core";

/** Sent once. Not by argument or environment: the URL holds a password, and those can be seen. */
export interface StartInstance {
  readonly name: string;
  readonly databaseUrl: string;
  readonly directUrl: string | null;
}

/** An error is told by its message: the error itself does not survive the way. */
type Told<Event> = Event extends { readonly error: unknown }
  ? Omit<Event, "error"> & { readonly message: string }
  : Event;
export type InstanceEvent = Told<SchedulerEvent>;

export type FromInstance =
  | { readonly kind: "event"; readonly event: InstanceEvent }
  | { readonly kind: "failed"; readonly message: string };

export const DEV_LEASE_MS = 3_000;
