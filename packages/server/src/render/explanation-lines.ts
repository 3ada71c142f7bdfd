/** "Why is it not running?", answered for people: one sentence, then every gate. Pure. */

import type { Explanation, GateReport } from "@signalbox/contract";
import type { Look } from "./look.ts";
import { statusText } from "./status-look.ts";
import { alignColumns } from "./table.ts";
import { safeText } from "./task-name.ts";
import { clockText, relativeText, sinceText } from "./time.ts";
import { unattendedSentence } from "./unattended.ts";
import { causeDetails, causeSentence, firstBlocking, GATE_WORDS, type Moment } from "./waiting-cause.ts";

export function explanationLines(explanation: Explanation, look: Look): readonly string[] {
  const moment: Moment = { now: explanation.computedAt, look };
  return [
    headLine(explanation, look),
    `${verdict(explanation, moment)}.`,
    ...gateLines(explanation.gates, moment),
    ...claimLines(explanation),
    ...cancelLines(explanation, moment),
    ...idLines(explanation, moment),
  ];
}

function headLine({ title, kind, attempt, status }: Explanation, look: Look): string {
  const facts = [`kind ${safeText(kind)}`, ...(attempt === null ? [] : [`attempt ${attempt}`])].join(", ");
  return `${statusText(status, look)}  ${look.colors.bold(safeText(title))}  (${facts})`;
}

function verdict(explanation: Explanation, moment: Moment): string {
  const length = sinceText(explanation.since, explanation.computedAt);
  switch (explanation.status) {
    case "PENDING":
      return `Waiting ${length}${atThisGate(explanation)}: ${whyPending(explanation, moment)}`;
    case "AVAILABLE":
      return `Ready for ${length}${whyUnattended(explanation)}`;
    case "RUNNING":
      return `Running for ${length}${whoRuns(explanation)}`;
    case "DONE":
    case "FAILED":
    case "CANCELED":
      return `Ended ${clockText(explanation.since, moment.now, moment.look)}, ${length} ago${howEnded(explanation)}`;
    case "NOT_STARTED":
      return "Not started: it has no task run yet";
    case "SKIPPED":
      return "Skipped: it will not run";
  }
}

/** Said only where it came from another gate: then the two lengths differ. */
function atThisGate({ since, blockedSince, computedAt }: Explanation): string {
  if (blockedSince === null) return "";
  const [whole, here] = [sinceText(since, computedAt), sinceText(blockedSince, computedAt)];
  return whole === here ? "" : ` (at this gate ${here})`;
}

function whyPending({ gates, unattended }: Explanation, moment: Moment): string {
  const first = firstBlocking(gates);
  if (unattended !== null) return unattendedSentence(unattended, moment.now);
  if (first === null) return "every gate is open now, the next promotion pass admits it";
  const others = gates.filter(({ state }) => state === "blocking").length - 1;
  const more = others === 0 ? "" : `, and ${others} more ${others === 1 ? "gate holds" : "gates hold"} it`;
  return `${causeSentence(first.cause, moment)}${more}`;
}

function whyUnattended({ unattended, computedAt }: Explanation): string {
  return unattended === null ? "" : `: ${unattendedSentence(unattended, computedAt)}`;
}

function whoRuns(explanation: Explanation): string {
  const { claimedBy, unattended, computedAt } = explanation;
  const where = claimedBy === null ? "" : ` on ${safeText(claimedBy.name)}`;
  if (claimedBy === null || unattended !== null) return `${where}${whyUnattended(explanation)}`;
  return `${where}, whose lease ends ${relativeText(claimedBy.leaseUntil, computedAt)} unless renewed`;
}

function howEnded({ outcome, message }: Explanation): string {
  if (outcome === null) return "";
  return message === null ? `: ${outcome}` : `: ${outcome}, ${safeText(message)}`;
}

function gateLines(gates: readonly GateReport[], moment: Moment): readonly string[] {
  const rows = gates.flatMap((gate) => gateRows(gate, moment));
  return alignColumns(rows).map((line) => `  ${line}`);
}

type Row = readonly [state: string, label: string, detail: string];

function gateRows(gate: GateReport, moment: Moment): readonly Row[] {
  const words = GATE_WORDS[gate.code];
  const { colors } = moment.look;
  switch (gate.state) {
    case "not_applicable":
      return [[colors.dim("none"), words.label, colors.dim(words.notApplicable)]];
    case "passed":
      return [["passed", words.label, words.passed]];
    case "blocking": {
      const details = gate.causes.flatMap((explained) => [
        causeSentence(explained.cause, moment),
        ...causeDetails(explained, moment).map((detail) => `  ${detail}`),
      ]);
      return details.map((detail, index): Row => {
        return index === 0 ? [colors.yellow("BLOCKED"), words.label, detail] : ["", "", detail];
      });
    }
  }
}

function claimLines({ claimableBy }: Explanation): readonly string[] {
  return alignColumns(
    claimableBy.map(({ name, running, slots, freeSlots }) => [
      `  ${safeText(name)}`,
      `${running} of ${slots} slots used`,
      freeSlots > 0 ? "can claim it" : "full",
    ]),
  );
}

function cancelLines(explanation: Explanation, { now }: Moment): readonly string[] {
  const { cancelRequestedAt, cancelRequestedBy, cancelReason, status, claimedBy } = explanation;
  if (cancelRequestedAt === null) return [];
  const by = cancelRequestedBy === null ? "" : ` by ${safeText(cancelRequestedBy)}`;
  const reason = cancelReason === null ? "" : `: ${safeText(cancelReason)}`;
  const asked = `requested ${relativeText(cancelRequestedAt, now)}${by}${reason}`;
  return [
    status === "RUNNING"
      ? `Canceling: ${asked}. ${claimedBy === null ? "Whoever polls it next ends it" : "The instance that runs it has been told"}.`
      : `Cancel ${asked}.`,
  ];
}

function idLines(
  { taskRunId, taskId, runId, since, status }: Explanation,
  moment: Moment,
): readonly string[] {
  const ids = [
    ...(taskRunId === null ? [] : [`task run ${taskRunId}`]),
    `task ${taskId}`,
    ...(runId === null ? [] : [`run ${runId}`]),
  ];
  const started =
    status === "PENDING" ? [`Started waiting ${clockText(since, moment.now, moment.look)}. `] : [];
  return [moment.look.colors.dim(`${started.join("")}${capital(ids.join(", "))}.`)];
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
