/**
 * One instance in a process of its own, started by `signalbox dev`.
 *
 * It leaves when it is told to (SIGTERM) and when its parent is gone: nothing may run on after `dev`.
 */

import { createScheduler, type Scheduler, type SchedulerEvent } from "@signalbox/core";
import { DEMO_TASKS } from "../demo/tasks.ts";
import {
  DEV_LEASE_MS,
  type FromInstance,
  type InstanceEvent,
  type StartInstance,
} from "./instance-messages.ts";

const LEAVE_AT_MOST_MS = 20_000;

let scheduler: Scheduler | null = null;
let leaving = false;

process.once("message", (message: StartInstance) => void start(message));
process.once("disconnect", () => void leave());
process.once("SIGTERM", () => void leave());
// A terminal's Ctrl-C is the parent's to decide about.
process.on("SIGINT", () => {});

async function start({ name, databaseUrl, directUrl }: StartInstance): Promise<void> {
  try {
    scheduler = createScheduler({
      name,
      databaseUrl,
      ...(directUrl === null ? {} : { directUrl }),
      tasks: DEMO_TASKS,
      slots: 4,
      leaseMs: DEV_LEASE_MS,
      beatMs: 500,
      graceMs: 500,
      pollIntervalMs: 1_000,
      poolSize: 5,
      onEvent: (event) => tell({ kind: "event", event: tellable(event) }),
    });
    await scheduler.start();
  } catch (error) {
    tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    process.exitCode = 1;
    await leave();
  }
}

async function leave(): Promise<void> {
  if (leaving) return;
  leaving = true;
  // A task that does not stop, or a database that is gone, must not keep the process.
  setTimeout(() => process.exit(1), LEAVE_AT_MOST_MS).unref();
  await scheduler?.stop().catch(() => {});
  process.exit();
}

function tell(message: FromInstance): void {
  // The parent may be gone in this very moment.
  if (process.connected) process.send?.(message, () => {});
}

function tellable(event: SchedulerEvent): InstanceEvent {
  if (!("error" in event)) return event;
  const { error, ...rest } = event;
  return { ...rest, message: error instanceof Error ? error.message : String(error) };
}
