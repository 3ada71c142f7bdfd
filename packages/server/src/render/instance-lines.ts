/** Instances: whether they are live, what they can do and what they have. */

import type { InstanceDetail, InstanceView } from "@signalbox/contract";
import { type Fact, factLines } from "./fact-lines.ts";
import type { Look } from "./look.ts";
import { type Column, renderTable } from "./table.ts";
import { safeText } from "./task-name.ts";
import { taskRunColumns } from "./task-run-columns.ts";
import { relativeText, sinceText } from "./time.ts";
import type { Moment } from "./waiting-cause.ts";

export function instanceColumns({ now, look }: Moment): readonly Column<InstanceView>[] {
  return [
    { name: "instance", text: ({ name }) => safeText(name) },
    { name: "state", text: (instance) => stateText(instance, now, look) },
    { name: "beat", text: ({ beatAt }) => relativeText(beatAt, now) },
    { name: "slots", text: ({ running, slots }) => `${running}/${slots}` },
    { name: "started", text: ({ startedAt }) => relativeText(startedAt, now) },
    { name: "lease", wide: true, text: ({ leaseUntil }) => relativeText(leaseUntil, now) },
    { name: "kinds", wide: true, text: ({ kinds }) => safeText(kinds.join(",")) },
    { name: "id", wide: true, text: ({ instanceId }) => instanceId },
  ];
}

function stateText(instance: InstanceView, now: string, look: Look): string {
  const { colors } = look;
  const { state, beatAt, leaseUntil, leftAt, drainRequest } = instance;
  if (state === "DEAD") return leftAt === null ? colors.red("lost") : colors.dim("left");
  if (state === "DRAINING" || drainRequest !== null) return colors.yellow("draining");
  const [beat, end, at] = [Date.parse(beatAt), Date.parse(leaseUntil), Date.parse(now)];
  if (end < at) return colors.red("silent");
  // A beat comes several times per lease; one that is half a lease old is overdue.
  return at - beat > (end - beat) / 2 ? colors.yellow("late") : colors.green("live");
}

/** As far as the database knows, whatever the time is: a line that is printed once says no more. */
export function plainStateText({ state, leftAt }: Pick<InstanceView, "state" | "leftAt">): string {
  if (state !== "DEAD") return state.toLowerCase();
  return leftAt === null ? "lost" : "left";
}

export function instanceLines(instance: InstanceDetail, look: Look): readonly string[] {
  const { computedAt: now, taskRuns, cut } = instance;
  const facts: readonly Fact[] = [
    ["state", stateText(instance, now, look)],
    ["asked to drain", drainText(instance, now)],
    ["beat", relativeText(instance.beatAt, now)],
    ["lease", leaseText(instance, now)],
    ["slots", `${instance.running} of ${instance.slots} used`],
    ["started", relativeText(instance.startedAt, now)],
    ["kinds", safeText(instance.kinds.join(", "))],
    ["id", instance.instanceId],
  ];
  const columns = taskRunColumns({ now, look }).filter(({ name }) => HELD_COLUMNS.includes(name));
  const held = renderTable(
    columns.map(({ name }) => name.toUpperCase()),
    taskRuns.map((taskRun) => columns.map(({ text }) => text(taskRun))),
  );
  return [
    look.colors.bold(safeText(instance.name)),
    ...factLines(facts, look),
    ...(taskRuns.length === 0 ? [] : ["", ...held]),
    ...(cut ? ["and more"] : []),
  ];
}

const HELD_COLUMNS = ["status", "id", "title", "attempt", "for"];

function drainText({ drainRequest }: InstanceDetail, now: string): string | null {
  if (drainRequest === null) return null;
  const { since, by, reason } = drainRequest;
  const who = by === null ? "" : ` by ${safeText(by)}`;
  return `${relativeText(since, now)}${who}${reason === null ? "" : `: ${safeText(reason)}`}`;
}

function leaseText({ leaseUntil, leftAt, state }: InstanceDetail, now: string): string {
  if (leftAt !== null) return `gave it back ${relativeText(leftAt, now)}`;
  if (state === "DEAD") return "lost it";
  return leaseUntil > now
    ? `ends ${relativeText(leaseUntil, now)} unless renewed`
    : `over for ${sinceText(leaseUntil, now)}`;
}
