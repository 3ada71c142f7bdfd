import type { TaskRunDetail } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { CopyButton } from "../../shared/ui/copy-button.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";

export function InputOutput({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  return (
    <div className="grid min-w-0 gap-4 sm:grid-cols-2">
      <Json title={words("io.input")} value={taskRun.input} empty={words("io.none")} />
      <Json
        title={words("io.output")}
        value={taskRun.output}
        empty={words(taskRun.finishedAt === null ? "io.notYet" : "io.none")}
      />
    </div>
  );
}

interface JsonProps {
  readonly title: string;
  readonly value: unknown;
  readonly empty: string;
}

function Json({ title, value, empty }: JsonProps) {
  const words = useWords();
  if (value === null || value === undefined) {
    return (
      <Panel title={title}>
        <Empty>{empty}</Empty>
      </Panel>
    );
  }
  // Bidirectional marks and the like are shown as what they are: escapes.
  const text = JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    escaped,
  );
  return (
    <Panel title={title} aside={<CopyButton text={text} label={words("copy.json")} />}>
      <pre
        className="max-h-80 overflow-auto px-4 pb-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap"
        tabIndex={0}
      >
        {text}
      </pre>
    </Panel>
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
