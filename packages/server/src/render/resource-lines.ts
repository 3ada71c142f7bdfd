import type { Holder, ResourceDetail, ResourceView } from "@signalbox/contract";
import { factLines } from "./fact-lines.ts";
import { countText } from "./queue-lines.ts";
import { statusText } from "./status-look.ts";
import { alignColumns, type Column } from "./table.ts";
import { safeText, shortId } from "./task-name.ts";
import { sinceText } from "./time.ts";
import type { Moment } from "./waiting-cause.ts";
import { standingText, windowText } from "./window-text.ts";

export function resourceColumns(moment: Moment): readonly Column<ResourceView>[] {
  return [
    { name: "resource", text: ({ resource }) => safeText(resource) },
    { name: "held", text: heldText },
    { name: "line", text: ({ inLine }) => countText(inLine) },
    {
      name: "holder",
      text: ({ holders }) => (holders[0] === undefined ? "" : holderText(holders[0], moment)),
    },
    { name: "about", text: (resource) => aboutText(resource, moment) },
  ];
}

export function resourceLines(resource: ResourceDetail, moment: Moment): readonly string[] {
  const { look } = moment;
  const rows = [
    ...resource.holders.map((holder) => ["holds", ...rowOf(holder, moment)]),
    ...resource.line.map((waiting) => [
      `${waiting.position}.`,
      ...rowOf(waiting, moment),
      waiting.version ?? "",
    ]),
  ];
  return [
    look.colors.bold(safeText(resource.resource)),
    ...factLines(
      [
        ["held", heldText(resource)],
        ["in line", countText(resource.inLine)],
        ["kept for", resource.reservedFor === null ? null : keptText(resource.reservedFor)],
        ["now", standingText(resource, moment) || "open"],
        ...resource.windows.map((window) => ["window", windowText(window, moment)] as const),
      ],
      look,
    ),
    ...alignColumns(rows).map((line) => `  ${line}`),
  ];
}

function heldText({ holders, holderCount }: ResourceView): string {
  const [first] = holders;
  if (first === undefined) return holderCount === 0 ? "free" : String(holderCount);
  return first.mode === "exclusive" ? "alone" : `shared by ${holderCount}`;
}

function aboutText(resource: ResourceView, moment: Moment): string {
  const kept = resource.reservedFor === null ? [] : [`kept for task ${shortId(resource.reservedFor)}`];
  return [...kept, standingText(resource, moment)].filter((part) => part !== "").join(", ");
}

function keptText(taskId: string): string {
  return `task ${taskId}, of which an attempt may still be at work`;
}

function holderText({ title, instanceName, since }: Holder, { now }: Moment): string {
  const where = instanceName === null ? "" : ` on ${safeText(instanceName)}`;
  return `${safeText(title)}${where} for ${sinceText(since, now)}`;
}

function rowOf({ status, title, taskRunId, mode, since }: Holder, { now, look }: Moment): readonly string[] {
  return [statusText(status, look), safeText(title), shortId(taskRunId), mode, sinceText(since, now)];
}
