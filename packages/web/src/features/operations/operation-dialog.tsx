/** Says what would be done to how many, and begins it when it is confirmed; once, however often it is pressed. */

import type { Operation, OperationFilter, OperationPreview } from "@signalbox/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { change } from "../../api/request.ts";
import { useEnvironment } from "../../app/environment-badge.tsx";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { problemText } from "../../shared/ui/answer.tsx";
import { ConfirmDialog } from "../../shared/ui/confirm-dialog.tsx";
import { askedBecause, ReasonField } from "../../shared/ui/reason-field.tsx";
import { StatusBadge } from "../../shared/ui/status-badge.tsx";
import { countText } from "../resources/count-text.ts";
import { newKey, typedPattern } from "./operation-request.ts";

interface OperationDialogProps {
  readonly preview: OperationPreview;
  readonly filter: OperationFilter;
  readonly onKeep: () => void;
  readonly onStarted: (operation: Operation) => void;
}

/** More than anybody looks through: the number is typed, so that it was read. */
const MANY = 50;

export function OperationDialog({ preview, filter, onKeep, onStarted }: OperationDialogProps) {
  const words = useWords();
  const [key] = useState(newKey);
  const [reason, setReason] = useState("");
  const environment = useEnvironment();
  const isProduction = environment !== null && /^prod/i.test(environment);
  const { verb, eligible } = preview;
  const shown = countText(eligible, words.locale);
  const start = useMutation({
    mutationFn: async () =>
      (await change("POST", "operations", { verb, filter, ...askedBecause(reason) }, key)) as Operation,
    onSuccess: onStarted,
  });
  const title = words(`operation.${verb}Title`, { count: eligible.count, shown });
  return (
    <ConfirmDialog
      title={environment === null ? title : `${title} · ${safeText(environment)}`}
      keep={words(verb === "cancel" ? "operation.keepRunning" : "operation.leave")}
      act={words(`operation.${verb}Act`, { count: eligible.count, shown })}
      dangerous={verb === "cancel"}
      pending={start.isPending}
      problem={start.error === null ? null : problemText(start.error, words("problem.unreachable"))}
      onKeep={onKeep}
      onAct={() => start.mutate()}
    >
      <Groups preview={preview} />
      <First preview={preview} />
      <ReasonField reason={reason} onChange={setReason} required={isProduction} />
      {(eligible.atLeast || eligible.count > MANY || isProduction) && <Typed count={eligible.count} />}
      <p className="text-sm text-muted">{words("operation.again")}</p>
    </ConfirmDialog>
  );
}

function Groups({ preview }: { readonly preview: OperationPreview }) {
  const words = useWords();
  const number = new Intl.NumberFormat(words.locale);
  return (
    <table className="w-full text-start">
      <caption className="sr-only">{words("operation.what")}</caption>
      <tbody>
        {preview.groups.map(({ status, reason, count }) => (
          <tr key={`${status} ${reason}`} data-group={reason ?? "eligible"}>
            <th scope="row" className="py-0.5 pe-3 text-start">
              {status === null ? "–" : <StatusBadge status={status} />}
            </th>
            <td className="pe-3 text-end font-semibold tabular-nums">{number.format(count)}</td>
            <td className={reason === null ? "" : "text-muted"}>
              {reason === null
                ? words(`operation.${preview.verb}Each`)
                : words("operation.not", { why: words(`skip.${reason}`) })}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function First({ preview: { first, eligible } }: { readonly preview: OperationPreview }) {
  const words = useWords();
  const rest = eligible.count - first.length;
  return (
    <ul className="grid gap-0.5 text-sm">
      {first.map(({ taskRunId, title }) => (
        <li key={taskRunId} className="truncate">
          {safeText(title)}
        </li>
      ))}
      {rest > 0 && (
        <li className="text-muted">
          {words("operation.more", { shown: countText({ ...eligible, count: rest }, words.locale) })}
        </li>
      )}
    </ul>
  );
}

/** The form is not sent before it fits. */
function Typed({ count }: { readonly count: number }) {
  const words = useWords();
  const [typed, setTyped] = useState("");
  return (
    <label className="grid gap-1">
      <span>{words("operation.type", { number: new Intl.NumberFormat(words.locale).format(count) })}</span>
      <input
        className="field w-40"
        inputMode="numeric"
        autoComplete="off"
        required
        pattern={typedPattern(count)}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </label>
  );
}
