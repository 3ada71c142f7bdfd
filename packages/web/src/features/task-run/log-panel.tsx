/** What a task run printed: follows it while it runs, finds in all of it, and links to a line. */

import type { TaskRun } from "@signalbox/contract";
import { useRef, useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { setPreferences, usePreferences } from "../../shared/preferences.ts";
import { ProblemNote } from "../../shared/ui/answer.tsx";
import { CopyButton } from "../../shared/ui/copy-button.tsx";
import { Empty } from "../../shared/ui/panel.tsx";
import { LogFind } from "./log-find.tsx";
import { type LogLine, lineAt } from "./log-lines.ts";
import { LogView, type LogViewHandle } from "./log-view.tsx";
import { useLog } from "./use-log.ts";
import "./ansi.css";

interface LogPanelProps {
  readonly taskRunId: string;
  readonly status: TaskRun["status"];
}

export function LogPanel({ taskRunId, status }: LogPanelProps) {
  const words = useWords();
  const { wrapLog } = usePreferences();
  const log = useLog(taskRunId, status);
  const view = useRef<LogViewHandle>(null);
  const [finding, setFinding] = useState(false);
  const [marked, setMarked] = useState<number | null>(null);
  const show = (offset: number): void => {
    const index = lineAt(log.lines, offset);
    setMarked(index);
    view.current?.show(index);
  };
  return (
    <section
      id="log"
      tabIndex={-1}
      aria-labelledby="log-title"
      className="panel min-w-0 scroll-mt-20 overflow-clip"
      onKeyDown={(event) => {
        // The second time the browser's own find opens.
        if (!(event.ctrlKey || event.metaKey) || event.key !== "f" || finding) return;
        event.preventDefault();
        setFinding(true);
      }}
    >
      <div className="flex flex-wrap items-center justify-between gap-2 px-4 pt-3 pb-2">
        <h2 id="log-title">{words("log.title")}</h2>
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-2 text-sm">
          <span className="text-muted tabular-nums">{words("log.lines", { count: log.lines.length })}</span>
          <label className="inline-flex min-h-6 items-center gap-1.5">
            <input
              type="checkbox"
              className="size-4"
              checked={wrapLog}
              onChange={({ target }) => setPreferences({ wrapLog: target.checked })}
            />
            {words("log.wrap")}
          </label>
          <CopyButton text={() => textOf(log.lines)} label={words("log.copy")} />
          <button type="button" className="btn" aria-expanded={finding} onClick={() => setFinding(!finding)}>
            {words("log.find")}
          </button>
        </div>
      </div>
      {finding && (
        <LogFind taskRunId={taskRunId} ended={log.ended} onShow={show} onClose={() => setFinding(false)} />
      )}
      {log.error !== null && <ProblemNote error={log.error} />}
      {log.lines.length === 0 ? (
        <Empty>{words(emptyWord(status, log.ended))}</Empty>
      ) : (
        <LogView ref={view} log={log} status={status} wrap={wrapLog} marked={marked} onMark={setMarked} />
      )}
    </section>
  );
}

function emptyWord(
  status: TaskRun["status"],
  ended: boolean,
): "log.notStarted" | "log.empty" | "log.nothingYet" {
  if (status === "PENDING" || status === "AVAILABLE") return "log.notStarted";
  return ended ? "log.empty" : "log.nothingYet";
}

function textOf(lines: readonly LogLine[]): string {
  return lines.map(({ text }) => text).join("\n");
}
