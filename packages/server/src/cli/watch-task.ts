/** Watches one task through its attempts until it ends. */

import type { Client, Explanation } from "@signalbox/contract";
import { explanationLines } from "../render/explanation-lines.ts";
import { statusText } from "../render/status-look.ts";
import { safeText } from "../render/task-name.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { Output } from "./output.ts";
import { type AskOptions, isJson, type WatchOptions } from "./shared-options.ts";
import { watch, watchWish } from "./watch.ts";

const END: Partial<Record<Explanation["status"], ExitCode>> = {
  DONE: EXIT.ok,
  SKIPPED: EXIT.ok,
  FAILED: EXIT.failed,
  CANCELED: EXIT.canceled,
};

export async function watchTask(
  client: Client,
  taskId: string,
  { options, output }: { readonly options: AskOptions & WatchOptions; readonly output: Output },
): Promise<ExitCode> {
  return await watch<Explanation>(
    {
      read: async () => await client.explain(taskId),
      lines: (explanation) => explanationLines(explanation, output.look),
      facts: (explanation) => new Map([["task", factOf(explanation, output)]]),
      endOf: ({ status }) => END[status] ?? null,
      summary: (explanation) =>
        isJson(options) ? [JSON.stringify(explanation)] : explanationLines(explanation, output.look),
      news: { client, topics: [`task-runs/${taskId}`, `task-runs/${taskId}/explanation`] },
      again: `signalbox task show ${taskId} --watch`,
    },
    watchWish(options, output),
  );
}

function factOf(
  { status, title, attempt, blockedOn, claimedBy, outcome, message }: Explanation,
  { look }: Output,
): string {
  const about = [
    ...(attempt === null ? [] : [`attempt ${attempt}`]),
    ...(blockedOn === null ? [] : [blockedOn]),
    ...(claimedBy === null ? [] : [safeText(claimedBy.name)]),
    ...(outcome === null || outcome === status || status === "DONE" ? [] : [safeText(outcome)]),
    ...(message === null ? [] : [safeText(message)]),
  ];
  return `${statusText(status, look)}  ${safeText(title)}  ${about.join("  ")}`;
}
