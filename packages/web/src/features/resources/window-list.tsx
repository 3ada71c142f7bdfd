import { useWords } from "../../shared/i18n/use-words.ts";
import { Clock } from "../../shared/time/instant.tsx";
import { steadyText } from "../../shared/time/length.ts";
import { Empty } from "../../shared/ui/panel.tsx";
import { RemoveWindowButton, WindowButton, type WindowsOf } from "./window-button.tsx";

export function WindowList({ what, name, windows }: WindowsOf) {
  const words = useWords();
  const of = { what, name, windows };
  if (windows.length === 0) return <Empty>{words("window.none")}</Empty>;
  return (
    <ul className="grid gap-1 px-4 pb-3">
      {windows.map((window) => (
        <li key={JSON.stringify(window)} className="flex flex-wrap items-center gap-x-3 gap-y-1">
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
          <span className="ms-auto flex gap-2">
            <WindowButton {...of} window={window} />
            <RemoveWindowButton {...of} window={window} />
          </span>
        </li>
      ))}
    </ul>
  );
}
