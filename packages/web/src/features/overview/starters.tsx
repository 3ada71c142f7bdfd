/** On an empty database: three first steps, each with a line to copy. */

import { type MessageId, useWords } from "../../shared/i18n/use-words.ts";
import { CopyButton } from "../../shared/ui/copy-button.tsx";

const CARDS: readonly { readonly title: MessageId; readonly text: MessageId; readonly line: string }[] = [
  { title: "starter.demo", text: "starter.demoText", line: "npx signalbox dev --demo" },
  {
    title: "starter.enqueue",
    text: "starter.enqueueText",
    line: "npx signalbox enqueue <kind> --title first",
  },
  { title: "starter.why", text: "starter.whyText", line: "npx signalbox why <id>" },
];

export function Starters() {
  const words = useWords();
  return (
    <>
      <p className="text-muted">{words("starter.intro")}</p>
      <ul className="grid gap-4 md:grid-cols-3">
        {CARDS.map(({ title, text, line }) => (
          <li key={title} className="panel grid content-start gap-2 p-5">
            <h2>{words(title)}</h2>
            <p className="text-muted">{words(text)}</p>
            <div className="mt-1 flex items-center gap-1 rounded-md bg-raised py-1 ps-3 pe-1">
              <code className="min-w-0 flex-1 font-mono text-sm wrap-anywhere">{line}</code>
              <CopyButton text={line} label={words("copy.command")} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
