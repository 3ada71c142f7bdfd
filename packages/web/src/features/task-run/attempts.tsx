import type { TaskRunDetail } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Panel } from "../../shared/ui/panel.tsx";
import { TaskRunLength, TaskRunNote, TaskRunStatus } from "../task-runs/task-run-cells.tsx";
import { useAttempts } from "./use-attempts.ts";

export function Attempts({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  const query = useAttempts(taskRun);
  return (
    <Panel title={words("attempts.title")} className="overflow-clip">
      <Answer query={query} lines={2}>
        {({ taskRuns, next }) => (
          <>
            <ol className="grid">
              {taskRuns.map((each) => (
                <li
                  key={each.taskRunId}
                  className={`border-t border-line px-4 py-2 ${each.taskRunId === taskRun.taskRunId ? "shadow-[inset_3px_0_var(--ink)]" : ""}`}
                >
                  <div className="flex flex-wrap items-center justify-between gap-x-3">
                    <Link
                      to="/task-runs/$taskRunId"
                      params={{ taskRunId: each.taskRunId }}
                      aria-current={each.taskRunId === taskRun.taskRunId ? "true" : undefined}
                    >
                      {words("taskRun.attempt", { attempt: each.attempt, attempts: each.attempts })}
                    </Link>
                    <TaskRunStatus taskRun={each} />
                  </div>
                  <div className="flex flex-wrap justify-between gap-x-3 text-sm text-muted">
                    <TaskRunNote taskRun={each} />
                    <TaskRunLength taskRun={each} />
                  </div>
                </li>
              ))}
            </ol>
            {next !== null && <p className="px-4 py-2 text-sm text-muted">{words("attempts.more")}</p>}
          </>
        )}
      </Answer>
    </Panel>
  );
}
