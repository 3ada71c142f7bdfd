/** Limits of keys, rates and windows that are in force. */

import type { RulesInForce } from "@signalbox/contract";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { lengthText } from "../../shared/time/length.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { WindowList } from "./window-list.tsx";

export function RulesPanel() {
  const words = useWords();
  const query = useTopic<RulesInForce>("rules");
  return (
    <Panel title={words("rules.title")}>
      <Answer query={query}>{(rules) => <Rules rules={rules} />}</Answer>
    </Panel>
  );
}

function Rules({ rules: { keyLimits, rates, windows } }: { readonly rules: RulesInForce }) {
  const words = useWords();
  if (keyLimits.length + rates.length + windows.length === 0) return <Empty>{words("rules.empty")}</Empty>;
  return (
    <div className="grid gap-3 px-4 pb-4">
      {keyLimits.map(({ concurrencyKey, limit }) => (
        <p key={concurrencyKey}>
          <span className="text-muted">{words("gate.KEY_LIMIT")}</span> {safeText(concurrencyKey)} ·{" "}
          {words("limit.atOnce", { limit })}
        </p>
      ))}
      {rates.map(({ rate, amount, perMs, free }) => (
        <p key={rate}>
          <span className="text-muted">{words("gate.RATE_LIMIT")}</span> {safeText(rate)} ·{" "}
          {words("fact.rate", { amount, length: lengthText(perMs, words.locale) })}
          {free !== null && <span className="text-muted"> · {words("rules.free", { count: free })}</span>}
        </p>
      ))}
      {windows.map(({ what, windows: each }) => {
        const name = "queue" in what ? what.queue : what.resource;
        return (
          <section key={JSON.stringify(what)} className="-mx-4">
            <h3 className="px-4">
              {words("queue" in what ? "column.queue" : "column.resource")} {safeText(name)}
            </h3>
            <WindowList what={what} name={safeText(name)} windows={each} />
          </section>
        );
      })}
    </div>
  );
}
