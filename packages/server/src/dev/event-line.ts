/** One line per event, as people read them: `12:00:05  inst-b  claimed    orders add column  (attempt 1)`. Pure. */

import type { Look } from "../render/look.ts";
import { quoted, safeText } from "../render/task-name.ts";
import { lengthText } from "../render/time.ts";
import type { InstanceEvent } from "./instance-messages.ts";
import type { Takeover } from "./takeovers.ts";

export interface LogEntry {
  readonly at: Date;
  /** Whose event it is: an instance, or `dev` itself. */
  readonly who: string;
  readonly verb: string;
  readonly text: string;
  readonly tone?: "good" | "bad" | "alert" | "quiet";
}

type Said = Omit<LogEntry, "at" | "who">;

const WHO_WIDTH = 8;
const VERB_WIDTH = 9;

export function logLine({ at, who, verb, text, tone }: LogEntry, look: Look): string {
  const { colors } = look;
  const paint = { good: colors.green, bad: colors.red, alert: colors.yellow, quiet: colors.dim } as const;
  const time = colors.dim(at.toTimeString().slice(0, 8));
  const word = verb.padEnd(VERB_WIDTH);
  return `${time}  ${who.padEnd(WHO_WIDTH)}  ${tone === undefined ? word : paint[tone](word)}  ${text}`.trimEnd();
}

type EventOf<Type extends string> = Extract<InstanceEvent, { type: Type }>;

type TroubleType = "loop.failed" | "lease.renewal_failed" | "connection.lost" | "listener.lost";

/** What each kind of trouble is about. It comes in swarms and is told in another way. */
const TROUBLE: { readonly [Type in TroubleType]: (event: EventOf<Type>) => string } = {
  "loop.failed": ({ loop }) => loop,
  "lease.renewal_failed": () => "lease",
  "connection.lost": () => "connection",
  "listener.lost": () => "listener",
};

export type SpokenEvent = Exclude<InstanceEvent, { type: TroubleType }>;

export function isTrouble(event: InstanceEvent): event is EventOf<TroubleType> {
  return event.type in TROUBLE;
}

export function troubleWith(event: EventOf<TroubleType>): string {
  const name = TROUBLE[event.type] as (event: EventOf<TroubleType>) => string;
  return name(event);
}

/** One entry per event: a new one does not compile until it has its words, or its silence. */
const SAID: { readonly [Type in SpokenEvent["type"]]: (event: EventOf<Type>) => Said | null } = {
  "instance.joined": () => ({ verb: "joined", text: "", tone: "quiet" }),
  "instance.draining": ({ executing }) =>
    executing === 0 ? null : { verb: "finishes", text: countText(executing), tone: "quiet" },
  "instance.left": () => ({ verb: "left", text: "", tone: "quiet" }),
  "instance.fenced": ({ aborted }) => ({
    verb: "gave up",
    text: `its lease was gone, so it stopped ${countText(aborted)}`,
    tone: "alert",
  }),
  "timeline.changed": () => ({
    verb: "noticed",
    text: "that the database is another one: a standby was promoted",
    tone: "alert",
  }),
  "instance.lost": ({ lostName, silentMs }) => ({
    verb: "noticed",
    text: `${lostName} was lost (silent ${lengthText(silentMs)})`,
    tone: "bad",
  }),
  "lease.renewed": () => null,
  // Several a second, and the claim follows at once.
  "task_run.promoted": () => null,
  "task_run.demoted": () => null,
  "gate.lock_missed": () => null,
  "gate.failed": ({ message }) => ({ verb: "trouble", text: `a gate: ${safeText(message)}`, tone: "bad" }),
  "task_run.claimed": ({ title, attempt }) => ({
    verb: "claimed",
    text: `${safeText(title)}  (attempt ${attempt})`,
  }),
  "task_run.settled": settled,
  "task_run.rescued": rescued,
  "task_run.refused": ({ title }) => ({
    verb: "refused",
    text: `the result of ${quoted(title)} came too late: it is another's by now`,
    tone: "alert",
  }),
  "task_run.deferred": ({ title, runInMs }) => ({
    verb: "deferred",
    text: `${safeText(title)}  for ${lengthText(runInMs)}`,
  }),
  "operation.done": ({ verb }) => ({ verb: "carried out", text: `an operation: ${verb}` }),
  "task_run.let_go": ({ title }) => ({ verb: "let go", text: `${safeText(title)}  goes on outside` }),
  // As often as the job wants.
  "task_run.polled": () => null,
  "task_run.resumed": ({ title, fromName }) => ({
    verb: "resumed",
    text: `${quoted(title)} from ${fromName}: it goes on outside`,
    tone: "alert",
  }),
  "task_run.out_of_order": ({ title, version, doneVersion, resource }) => ({
    verb: "failed",
    text: `${safeText(title)}: version ${version} is below ${doneVersion}, which is done on ${quoted(resource)}`,
    tone: "bad",
  }),
  "task_run.queue_timed_out": ({ title, attempt }) => ({
    verb: "failed",
    text: `${safeText(title)}  (attempt ${attempt}): it waited for too long`,
    tone: "bad",
  }),
  "process.started": () => null,
  "process.ended": ({ because }) =>
    because === "warden_lost"
      ? { verb: "lost", text: "its warden; its processes were ended", tone: "bad" }
      : null,
  "task_run.stuck": ({ title }) => ({
    verb: "stuck",
    text: `${quoted(title)} ignores its signal, and its slot stays taken`,
    tone: "bad",
  }),
  "task_run.unstuck": ({ title }) => ({
    verb: "unstuck",
    text: `${quoted(title)} has ended at last`,
    tone: "alert",
  }),
  "task_run.overdue": ({ title }) => ({
    verb: "overdue",
    text: `${quoted(title)} blocked the event loop for too long, and was failed`,
    tone: "bad",
  }),
  "task_run.handed_back": () => ({ verb: "gave back", text: "a claim whose answer was lost", tone: "alert" }),
  "task_run.aborted": () => ({
    verb: "aborted",
    text: "what the database says is not its own",
    tone: "alert",
  }),
  "slots.stuck": ({ stuck, slots }) => ({
    verb: "stuck",
    text: `${stuck} of ${slots} slots: told to stop, and they go on`,
    tone: stuck === 0 ? "good" : "alert",
  }),
  "loop.passed": () => null,
  "event_loop.lagged": ({ lagMs }) => ({
    verb: "lagged",
    text: `something kept it busy for ${lengthText(lagMs)}`,
    tone: "alert",
  }),
  "event_loop.recovered": () => null,
  "listener.regained": ({ deafMs }) => ({
    verb: "hears",
    text: `wake-ups again, after ${lengthText(deafMs)}`,
    tone: "quiet",
  }),
  "database.watched": ({ overlong, oldestTransaction }) =>
    overlong && oldestTransaction !== null
      ? {
          verb: "noticed",
          text: `a transaction of ${quoted(oldestTransaction.applicationName)} has been open for ${lengthText(oldestTransaction.openMs)}`,
          tone: "alert",
        }
      : null,
  "retention.pruned": ({ tasks }) =>
    tasks === 0
      ? null
      : {
          verb: "pruned",
          text: `${tasks === 1 ? "1 task" : `${tasks} tasks`} kept long enough`,
          tone: "quiet",
        },
};

/** What an event says; null for what is too much for a terminal. */
export function saidBy(event: SpokenEvent, takeover: Takeover | null): Said | null {
  if (event.type === "task_run.claimed" && takeover !== null) return tookOver(event, takeover);
  const say = SAID[event.type] as (event: SpokenEvent) => Said | null;
  return say(event);
}

function tookOver({ title, attempt }: EventOf<"task_run.claimed">, { fromName, strike }: Takeover): Said {
  const after = strike === null ? "" : `, ${lengthText(strike.agoMs)} after the ${strike.how}`;
  return {
    verb: "took over",
    text: `${safeText(title)}  (attempt ${attempt}) from ${fromName}${after}`,
    tone: "good",
  };
}

function settled(event: EventOf<"task_run.settled">): Said {
  const title = safeText(event.title);
  if (event.status === "DONE") return { verb: "done", text: title, tone: "good" };
  if (event.status === "CANCELED") return { verb: "canceled", text: title, tone: "alert" };
  const why = safeText(event.message ?? event.outcome);
  const next =
    event.nextInMs === null ? "" : `, attempt ${event.attempt + 1} in ${lengthText(event.nextInMs)}`;
  return { verb: "failed", text: `${title}  (attempt ${event.attempt}): ${why}${next}`, tone: "bad" };
}

function rescued(event: EventOf<"task_run.rescued">): Said {
  const next = event.nextTaskRunId === null ? "no further attempt" : `attempt ${event.attempt + 1}`;
  const arrow = event.status === "CANCELED" ? "canceled" : next;
  return {
    verb: "rescued",
    text: `${quoted(event.title)} from ${event.fromName} -> ${arrow}`,
    tone: "alert",
  };
}

function countText(count: number): string {
  return count === 1 ? "1 task run" : `${count} task runs`;
}
