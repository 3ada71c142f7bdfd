import type { WindowSpec } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Clock } from "../../shared/time/instant.tsx";
import { steadyText } from "../../shared/time/length.ts";
import { Empty } from "../../shared/ui/panel.tsx";

export function WindowList({ windows }: { readonly windows: readonly WindowSpec[] }) {
  const words = useWords();
  if (windows.length === 0) return <Empty>{words("window.none")}</Empty>;
  return (
    <ul className="grid gap-1 px-4 pb-3">
      {windows.map((window) => (
        <li key={JSON.stringify(window)} className="flex flex-wrap gap-x-3">
          <span className="font-medium">{words(`window.kind.${window.kind}`)}</span>
          {"opens" in window ? (
            <span>
              <code className="font-mono text-sm">{window.opens}</code> ·{" "}
              {steadyText(window.lastsMs, words.locale)} · {window.timeZone}
            </span>
          ) : (
            <span>
              <Clock at={window.from} /> – <Clock at={window.until} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
