import type { TaskRunDetail } from "@signalbox/contract";
import { useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { lengthText } from "../../shared/time/length.ts";
import { ActionButton } from "../../shared/ui/action-button.tsx";
import { askedBecause, ReasonField } from "../../shared/ui/reason-field.tsx";

const MINUTE_MS = 60_000;
const LENGTHS_MS = [10, 60, 480, 1_440, 10_080].map((minutes) => minutes * MINUTE_MS);

/** So long from now by the database's clock, whatever this machine's says. */
export function DeferButton({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  const [delayMs, setDelayMs] = useState(LENGTHS_MS[1] ?? MINUTE_MS);
  const [reason, setReason] = useState("");
  return (
    <ActionButton
      label={words("defer.label")}
      title={words("defer.title", { title: safeText(taskRun.title) })}
      keep={words("defer.keep")}
      act={words("defer.act")}
      method="POST"
      path={`task-runs/${taskRun.taskRunId}/defer`}
      body={() => ({ delayMs, ...askedBecause(reason) })}
      onDone={() => setReason("")}
    >
      <p>{words("defer.text")}</p>
      <label className="grid gap-1">
        <span>{words("defer.length")}</span>
        <select
          className="field w-40"
          value={delayMs}
          onChange={({ target }) => setDelayMs(Number(target.value))}
        >
          {LENGTHS_MS.map((ms) => (
            <option key={ms} value={ms}>
              {lengthText(ms, words.locale)}
            </option>
          ))}
        </select>
      </label>
      <ReasonField reason={reason} onChange={setReason} />
    </ActionButton>
  );
}
