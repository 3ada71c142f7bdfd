/** A list of task runs. */

import type { TaskRun } from "@signalbox/contract";
import { statusText } from "./status-look.ts";
import type { Column } from "./table.ts";
import { safeText, shortId } from "./task-name.ts";
import { clockText, sinceText } from "./time.ts";
import { type Moment, WAITING_LABEL } from "./waiting-cause.ts";

export function taskRunColumns({ now, look }: Moment): readonly Column<TaskRun>[] {
  return [
    { name: "status", text: ({ status }) => statusText(status, look) },
    { name: "id", text: ({ taskRunId }) => shortId(taskRunId) },
    { name: "title", text: ({ title }) => safeText(title) },
    { name: "kind", text: ({ kind }) => safeText(kind) },
    { name: "queue", text: ({ queue }) => safeText(queue) },
    { name: "attempt", text: attemptText },
    { name: "for", text: (taskRun) => sinceText(statusSince(taskRun), now) },
    { name: "about", text: aboutText },
    { name: "priority", wide: true, text: ({ priority }) => String(priority) },
    { name: "tags", wide: true, text: ({ tags }) => safeText(tags.join(",")) },
    {
      name: "resources",
      wide: true,
      text: ({ resources }) => safeText(resources.map(resourceText).join(",")),
    },
    { name: "version", wide: true, text: ({ version }) => version ?? "" },
    { name: "enqueued", wide: true, text: ({ enqueuedAt }) => clockText(enqueuedAt, now, look) },
    { name: "task", wide: true, text: ({ taskId }) => taskId },
    { name: "run", wide: true, text: ({ runId }) => runId ?? "" },
  ];
}

/** "2/3"; where there can be only one, just that. */
export function attemptText({ attempt, attempts }: TaskRun): string {
  return attempts === 1 ? String(attempt) : `${attempt}/${attempts}`;
}

/** When it came to be in its status. */
export function statusSince({ finishedAt, claimedAt, availableAt, enqueuedAt, status }: TaskRun): string {
  switch (status) {
    case "PENDING":
      return enqueuedAt;
    case "AVAILABLE":
      return availableAt ?? enqueuedAt;
    case "RUNNING":
      return claimedAt ?? enqueuedAt;
    case "DONE":
    case "FAILED":
    case "CANCELED":
      return finishedAt ?? enqueuedAt;
  }
}

/** Why it waits, where it runs, how it ended. */
export function aboutText(taskRun: TaskRun): string {
  const { status, blockedOn, outcome } = taskRun;
  switch (status) {
    case "PENDING":
      return blockedOn === null ? WAITING_LABEL.NOT_EVALUATED : `${blockedOn}: ${WAITING_LABEL[blockedOn]}`;
    case "AVAILABLE":
      return "ready for an instance";
    case "RUNNING":
      return whereText(taskRun);
    case "DONE":
      return "";
    case "FAILED":
    case "CANCELED":
      return outcome === null || outcome === status ? "" : safeText(outcome);
  }
}

function whereText({ instanceName, cancelRequestedAt }: TaskRun): string {
  const where = instanceName === null ? "an outside job" : `on ${safeText(instanceName)}`;
  return cancelRequestedAt === null ? where : `${where}, canceling`;
}

export function resourceText({ name, mode }: TaskRun["resources"][number]): string {
  return mode === "shared" ? `${name}:shared` : name;
}
