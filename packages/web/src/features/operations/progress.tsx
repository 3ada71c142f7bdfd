import type { Operation } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Panel } from "../../shared/ui/panel.tsx";
import { countText } from "../resources/count-text.ts";
import { ProgressBar } from "./progress-bar.tsx";
import { progressOf, type SkipReason, skippedOf } from "./progress-of.ts";

export function Progress({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const number = new Intl.NumberFormat(words.locale);
  const { done, failed, expected } = operation;
  const { difference } = progressOf(operation);
  const counts = [
    ["done", done],
    ["skipped", skippedOf(operation)],
    ["failed", failed],
  ] as const;
  return (
    <Panel title={words("operation.progress")}>
      <div className="grid gap-3 px-4 pb-4">
        <ProgressBar operation={operation} />
        <dl className="flex flex-wrap gap-x-8 gap-y-2">
          {counts.map(([name, count]) => (
            <div key={name} data-count={name}>
              <dt className="text-sm text-muted">{words(`operation.${name}`)}</dt>
              <dd className="text-xl font-semibold tabular-nums">{number.format(count)}</dd>
            </div>
          ))}
          <div data-count="expected">
            <dt className="text-sm text-muted">{words("operation.expected")}</dt>
            <dd className="text-xl font-semibold tabular-nums">
              {countText(expected.eligible, words.locale)}
            </dd>
          </div>
        </dl>
        <Skipped operation={operation} />
        {difference !== 0 && (
          <p className="text-sm text-muted">
            {words(difference > 0 ? "operation.moreThan" : "operation.fewerThan", {
              count: Math.abs(difference),
            })}
          </p>
        )}
      </div>
    </Panel>
  );
}

function Skipped({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const number = new Intl.NumberFormat(words.locale);
  const reasons = Object.entries(operation.skipped) as [SkipReason, number][];
  if (reasons.length === 0) return null;
  return (
    <ul className="grid gap-0.5">
      {reasons.map(([reason, count]) => (
        <li key={reason}>
          <span className="font-semibold tabular-nums">{number.format(count)}</span> {words(`skip.${reason}`)}
        </li>
      ))}
    </ul>
  );
}
