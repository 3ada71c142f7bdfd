/** The result of one round of the demo, as a table and a sentence. */

import type { Look } from "../render/look.ts";
import { statusText } from "../render/status-look.ts";
import { renderTable } from "../render/table.ts";
import { safeText } from "../render/task-name.ts";
import { lengthText } from "../render/time.ts";
import type { WatchedTask } from "./run-once.ts";

const HEADER = ["TASK", "ATTEMPTS", "WAITED AT", "INSTANCE", "STATUS", "TOOK"] as const;

export function demoTable(tasks: readonly WatchedTask[], look: Look): readonly string[] {
  return renderTable(
    HEADER,
    tasks.map(({ newest, waitedAt }) => [
      safeText(newest.title),
      String(newest.attempt),
      waitedAt.length === 0 ? "no gate" : waitedAt.join(", "),
      newest.instanceName ?? "",
      statusText(newest.status, look),
      tookText(newest.claimedAt, newest.finishedAt),
    ]),
  );
}

/** Nothing in the demo is meant to end in another way. */
export function notDone(tasks: readonly WatchedTask[]): readonly WatchedTask[] {
  return tasks.filter(({ newest }) => newest.status !== "DONE");
}

function tookText(claimedAt: Date | null, finishedAt: Date | null): string {
  if (claimedAt === null || finishedAt === null) return "";
  return lengthText(finishedAt.getTime() - claimedAt.getTime());
}
