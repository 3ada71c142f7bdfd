/** Every event of the scheduler as an entry of a log, with the level that its meaning asks for. */

import type { SchedulerEvent } from "@signalbox/core";
import type { Logger } from "pino";
import { describeError } from "./describe-error.ts";
import { createRepeatFilter } from "./repeat-filter.ts";
import { shortened } from "./safe-line.ts";

type Level = "debug" | "info" | "warn" | "error";
type EventOf<Type extends SchedulerEvent["type"]> = Extract<SchedulerEvent, { type: Type }>;

/** Error wakes someone, warn is for tomorrow, info is the life of instances, debug is regular traffic. */
const LEVELS: { readonly [Type in SchedulerEvent["type"]]: Level | ((event: EventOf<Type>) => Level) } = {
  "instance.joined": "info",
  "instance.draining": "info",
  "instance.left": "info",
  "instance.fenced": "error",
  "instance.lost": "warn",
  "lease.renewed": "debug",
  "lease.renewal_failed": "warn",
  "timeline.changed": "warn",
  "task_run.promoted": "debug",
  "task_run.demoted": "debug",
  "gate.lock_missed": "debug",
  "gate.failed": "error",
  "task_run.claimed": "debug",
  "task_run.settled": ({ status }) => (status === "FAILED" ? "warn" : "debug"),
  "task_run.deferred": "debug",
  "task_run.let_go": "debug",
  "task_run.polled": ({ problem }) => (problem === null ? "debug" : "warn"),
  "task_run.resumed": "info",
  "task_run.out_of_order": "warn",
  "task_run.queue_timed_out": "warn",
  "process.started": "debug",
  "process.ended": ({ because }) => (because === "warden_lost" ? "error" : "debug"),
  "task_run.stuck": "warn",
  "task_run.overdue": "warn",
  "task_run.unstuck": "info",
  "task_run.refused": "warn",
  "task_run.rescued": "info",
  "task_run.handed_back": "info",
  "task_run.aborted": "warn",
  "operation.done": "info",
  "retention.pruned": "debug",
  "slots.stuck": ({ stuck }) => (stuck > 0 ? "error" : "info"),
  "loop.passed": "debug",
  "loop.failed": "warn",
  "event_loop.lagged": "warn",
  "event_loop.recovered": "info",
  "connection.lost": "warn",
  "listener.lost": "warn",
  "listener.regained": "info",
  "database.watched": ({ overlong }) => (overlong ? "warn" : "debug"),
};

/** For `onEvent`, with a logger of `createLogger`, which describes errors. A line has at most 8 kB. */
export function logEvents(logger: Logger): (event: SchedulerEvent) => void {
  const filter = createRepeatFilter(TELL_AGAIN_AFTER_MS);
  return (event) => {
    const level = levelOf(event);
    if (!logger.isLevelEnabled(level)) return;
    const fields = fieldsOf(event);
    const repeated = "error" in event ? filter(keyOf(fields), performance.now()) : 0;
    if (repeated === null) return;
    logger[level](repeated === 0 ? fields : { ...fields, repeated }, event.type);
  };
}

function levelOf(event: SchedulerEvent): Level {
  const level = LEVELS[event.type] as Level | ((event: SchedulerEvent) => Level);
  return typeof level === "string" ? level : level(event);
}

/** While the database is away every loop fails several times a second, and always in the same way. */
const TELL_AGAIN_AFTER_MS = 10_000;
const MOST_IDS = 50;
const NAME_BYTES = 1_200;
const MESSAGE_BYTES = 2_400;

type Fields = Readonly<Record<string, unknown>>;

/** What the event says, with nothing that could fill the disk. */
function fieldsOf({ type, ...event }: SchedulerEvent): Fields {
  const fields = Object.entries(event).map(([name, value]: [string, unknown]) => [
    name,
    fieldOf(name, value),
  ]);
  return { event: type, ...(Object.fromEntries(fields) as Fields) };
}

function fieldOf(name: string, value: unknown): unknown {
  if (name === "error") return value ?? null;
  if (Array.isArray(value)) return value.slice(0, MOST_IDS);
  return typeof value === "string"
    ? shortened(value, name === "message" ? MESSAGE_BYTES : NAME_BYTES)
    : value;
}

/** Of what went wrong in the same way before. */
function keyOf({ event, loop, error }: Fields): string {
  const { code, message } = describeError(error);
  return JSON.stringify([event, loop, code, message]);
}
