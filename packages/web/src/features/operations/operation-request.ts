/** From what is chosen in a list to what the API is asked. Pure, but for the key. */

import type { OperationFilter } from "@signalbox/contract";
import { statusesOf, type TaskRunSearch } from "../task-runs/task-run-search.ts";
import type { Selection } from "./selection.ts";

export type OperationVerb = "cancel" | "retry";

/** Null: all that there is, which no operation takes. */
export function filterOf(selection: Selection, search: TaskRunSearch): OperationFilter | null {
  if (selection.kind === "rows") return { ids: [...selection.ids].toSorted() };
  const { kind, queue, tag, runId } = search;
  const status = statusesOf(search).filter(
    (each): each is NonNullable<OperationFilter["status"]>[number] =>
      each !== "NOT_STARTED" && each !== "SKIPPED",
  );
  const filter: OperationFilter = {
    ...(status.length === 0 ? {} : { status }),
    ...(kind === undefined ? {} : { kind }),
    ...(queue === undefined ? {} : { queue }),
    ...(tag === undefined ? {} : { tag }),
    ...(runId === undefined ? {} : { runId }),
  };
  return Object.keys(filter).length === 0 ? null : filter;
}

/** What the list shows of the same, to come back from an operation to it. */
export function searchOf({ status, kind, queue, tag, runId }: OperationFilter): TaskRunSearch {
  return {
    ...(status === undefined ? {} : { status: status.join(",") }),
    ...(kind === undefined ? {} : { kind }),
    ...(queue === undefined ? {} : { queue }),
    ...(tag === undefined ? {} : { tag }),
    ...(runId === undefined ? {} : { runId }),
  };
}

/** Over plain HTTP a page has no `randomUUID`. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `dashboard-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The number as it must be typed, with or without what stands between thousands. */
export function typedPattern(count: number): string {
  const groups = new Intl.NumberFormat("en-US").format(count).split(",");
  return groups.join("[.,\\s\\u00a0\\u202f’]?");
}
