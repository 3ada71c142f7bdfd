/** "Why is it not running?": one sentence, then every gate with who stands in the way. */

import type { Explanation, TaskRunDetail } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Clock, Lasting, Relative, useInstantFormat } from "../../shared/time/instant.tsx";
import { CopyButton } from "../../shared/ui/copy-button.tsx";
import { causeLabel } from "../task-runs/cause-label.ts";
import { ClaimPanel } from "./claim-panel.tsx";
import { GateList } from "./gate-list.tsx";
import { unattendedText } from "./unattended-text.ts";
import { WhyFrame } from "./why-frame.tsx";

interface WhyPanelProps {
  readonly explanation: Explanation;
  readonly taskRun: TaskRunDetail;
}

export function WhyPanel({ explanation, taskRun }: WhyPanelProps) {
  // The explanation may be a moment behind the row: then it speaks of a status that is over.
  if (explanation.status !== taskRun.status) return null;
  switch (taskRun.status) {
    case "PENDING":
      return <Waiting explanation={explanation} />;
    case "AVAILABLE":
      return <ClaimPanel explanation={explanation} />;
    case "RUNNING":
      return <Running explanation={explanation} taskRun={taskRun} />;
    case "FAILED":
    case "CANCELED":
      return <Ended taskRun={taskRun} />;
    case "DONE":
      return null;
  }
}

function Waiting({ explanation }: { readonly explanation: Explanation }) {
  const words = useWords();
  const sentence = useWaitingSentence(explanation);
  return (
    <WhyFrame tone="border-s-pending">
      <div className="flex items-start justify-between gap-2 px-4 pt-3">
        <h2 className="text-[1.0625rem]" data-why>
          {words("why.waiting")} <Lasting from={explanation.since} /> · {sentence}
        </h2>
        <CopyButton text={location.href} label={words("copy.link")} />
      </div>
      <GateList gates={explanation.gates} />
      <p className="px-4 pb-3 text-sm text-muted">
        {words("why.computed")} <Relative at={explanation.computedAt} />. {words("why.since")}{" "}
        <Clock at={explanation.since} />.
      </p>
    </WhyFrame>
  );
}

function useWaitingSentence({ gates, unattended, computedAt }: Explanation): string {
  const words = useWords();
  const format = useInstantFormat();
  const clock = (at: string): string => format(at, Date.parse(computedAt));
  if (unattended !== null) return unattendedText(unattended, words, clock);
  const first = gates.find(({ state }) => state === "blocking")?.causes[0];
  if (first === undefined) return words("why.allOpen");
  const more = gates.filter(({ state }) => state === "blocking").length - 1;
  const label = causeLabel(first.cause, words, clock);
  return more === 0 ? label : `${label} · ${words("why.more", { count: more })}`;
}

function Running({ explanation, taskRun }: WhyPanelProps) {
  const words = useWords();
  const format = useInstantFormat();
  const { claimedBy, unattended } = explanation;
  const clock = (at: string): string => format(at, Date.parse(explanation.computedAt));
  return (
    <WhyFrame tone="border-s-running">
      <div className="grid gap-1 px-4 py-3">
        <h2 className="text-[1.0625rem]">
          {words("why.running")} <Lasting from={explanation.since} />
          {claimedBy !== null && <> · {words("note.on", { instance: safeText(claimedBy.name) })}</>}
        </h2>
        {unattended !== null && <p>{unattendedText(unattended, words, clock)}</p>}
        {claimedBy !== null && (
          <p className="text-sm text-muted">
            {words("why.leaseUntil")} <Relative at={claimedBy.leaseUntil} />
          </p>
        )}
        {taskRun.cancelRequestedAt !== null && (
          <p className="font-medium">
            {words("why.canceling")} <Relative at={taskRun.cancelRequestedAt} />
            {taskRun.cancelReason !== null && <> · {safeText(taskRun.cancelReason)}</>}
          </p>
        )}
      </div>
    </WhyFrame>
  );
}

function Ended({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  const { error, status, outcome, cancelReason, cancelRequestedBy } = taskRun;
  return (
    <WhyFrame tone={status === "FAILED" ? "border-s-failed" : "border-s-line-strong"}>
      <div className="grid gap-1 px-4 py-3">
        <h2 className="font-mono text-base">{outcome}</h2>
        {error !== null && <p className="wrap-anywhere whitespace-pre-wrap">{safeMessage(error.message)}</p>}
        {cancelRequestedBy !== null && (
          <p>{words("why.canceledBy", { user: safeText(cancelRequestedBy) })}</p>
        )}
        {cancelReason !== null && <p>{safeText(cancelReason)}</p>}
      </div>
    </WhyFrame>
  );
}

/** Its lines are kept. */
function safeMessage(message: string): string {
  return message.split("\n").map(safeText).join("\n");
}
