/** Which task runs the list shows, as the address says it. Whatever else stands there is left out, not an error. */

import { STATUSES, type Status } from "../../shared/ui/status-icon.tsx";

export interface TaskRunSearch {
  /** Names of statuses, with commas between them. */
  readonly status?: string;
  readonly kind?: string;
  readonly queue?: string;
  readonly tag?: string;
  readonly runId?: string;
}

const FIELDS = ["status", "kind", "queue", "tag", "runId"] as const;
const PAGE = 100;

export function readTaskRunSearch(search: Readonly<Record<string, unknown>>): TaskRunSearch {
  const given = FIELDS.map((field) => [field, textOf(search[field])] as const);
  const kept = Object.fromEntries(given.filter(([, text]) => text !== "")) as TaskRunSearch;
  const { status: _, ...rest } = kept;
  const statuses = statusesOf(kept);
  return statuses.length === 0 ? rest : { ...rest, status: statuses.join(",") };
}

/** Those a task run can have: it is never NOT_STARTED or SKIPPED. */
export const TASK_RUN_STATUSES = STATUSES.filter(
  (status) => status !== "NOT_STARTED" && status !== "SKIPPED",
);

export function statusesOf({ status = "" }: TaskRunSearch): readonly Status[] {
  const named = status.split(",");
  return TASK_RUN_STATUSES.filter((known) => named.includes(known));
}

export function toggleStatus(search: TaskRunSearch, status: Status): TaskRunSearch {
  const chosen = statusesOf(search);
  const next = chosen.includes(status) ? chosen.filter((other) => other !== status) : [...chosen, status];
  return readTaskRunSearch({ ...search, status: next.join(",") });
}

export function topicOf(search: TaskRunSearch, before: string | null): string {
  const query = new URLSearchParams();
  for (const field of FIELDS) {
    const text = search[field];
    if (text !== undefined) query.set(field, text);
  }
  query.set("limit", String(PAGE));
  if (before !== null) query.set("before", before);
  return `task-runs?${query.toString()}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}
