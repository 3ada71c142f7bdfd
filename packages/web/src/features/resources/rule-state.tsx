/** Whether work may start on a queue or a resource now, and if not, why. */

import type { QueueView } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Relative } from "../../shared/time/instant.tsx";
import { StatusIcon } from "../../shared/ui/status-icon.tsx";

type Rules = Pick<QueueView, "paused" | "now" | "windows">;

export function RuleState({ rules: { paused, now, windows } }: { readonly rules: Rules }) {
  const words = useWords();
  return (
    <span className="inline-flex flex-col wrap-normal">
      {paused !== null && (
        <span className="inline-flex items-center gap-1.5">
          <StatusIcon status="PAUSED" />
          <span className="min-w-24 wrap-anywhere">
            {paused.by === null
              ? words("cause.PAUSED.short")
              : words("cause.PAUSED", { user: safeText(paused.by) })}{" "}
            · <Relative at={paused.since} />
            {paused.reason !== null && (
              <span className="block text-sm text-muted">{safeText(paused.reason)}</span>
            )}
          </span>
        </span>
      )}
      {now.kind === "closed" && (
        <span>
          {words(`window.${now.because}`)}
          {now.opensAt !== null && (
            <>
              {" · "}
              {words("window.opens")} <Relative at={now.opensAt} />
            </>
          )}
        </span>
      )}
      {paused === null && now.kind === "open" && (
        <span>
          {words("state.open")}
          {now.until !== null && windows.length > 0 && (
            <span className="text-muted">
              {" · "}
              {words("window.closes")} <Relative at={now.until} />
            </span>
          )}
        </span>
      )}
    </span>
  );
}
