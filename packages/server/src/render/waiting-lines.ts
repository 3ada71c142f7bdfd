/** What is waiting and why, a line each. */

import type { Explanation } from "@signalbox/contract";
import type { Look } from "./look.ts";
import { statusText, statusWord } from "./status-look.ts";
import { alignColumns } from "./table.ts";
import { quoted, safeText, shortId } from "./task-name.ts";
import { sinceText } from "./time.ts";
import { unattendedSentence } from "./unattended.ts";
import { causeSentence, firstBlocking, positionText } from "./waiting-cause.ts";

/** Whatever stopped waiting between the list and the question is left out. */
export function waitingLines(explanations: readonly Explanation[], look: Look): readonly string[] {
  const rows = explanations
    .filter(({ status }) => status === "PENDING")
    .map((explanation) => [
      statusText("PENDING", look),
      shortId(explanation.taskRunId ?? explanation.taskId),
      look.colors.bold(safeText(explanation.title)),
      sinceText(explanation.since, explanation.computedAt),
      whyText(explanation, look),
    ]);
  return alignColumns(rows);
}

function whyText({ gates, unattended, computedAt }: Explanation, look: Look): string {
  const first = firstBlocking(gates);
  if (unattended !== null)
    return `${look.colors.yellow(unattended.code)}: ${unattendedSentence(unattended, computedAt)}`;
  if (first === null) return "every gate is open now";
  const [blocker] = first.blockers;
  const parts = [
    causeSentence(first.cause, { now: computedAt, look }),
    ...(blocker === undefined ? [] : [`behind ${quoted(blocker.title)} (${holderText(blocker)})`]),
    ...(first.position === null ? [] : [positionText(first.position, first.lineLength)]),
  ];
  return `${look.colors.yellow(first.cause.code)}: ${parts.join(", ")}`;
}

function holderText({
  status,
  instanceName,
}: Explanation["gates"][number]["causes"][number]["blockers"][number]): string {
  return instanceName === null ? statusWord(status) : `${statusWord(status)} on ${instanceName}`;
}
