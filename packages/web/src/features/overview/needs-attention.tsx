/** What a person should look at: failures that nobody has tried again, and work that no instance can do. */

import type { Overview, TaskRunPage } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useTopic } from "../../live/use-topic.ts";
import { FAILED_FOR_GOOD } from "../../shared/failures.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { StatusIcon } from "../../shared/ui/status-icon.tsx";
import { TaskRunEnded, TaskRunNote } from "../task-runs/task-run-cells.tsx";
import { TaskRunLine } from "../task-runs/task-run-line.tsx";

const SHOWN = 6;

export function NeedsAttention({ overview }: { readonly overview: Overview | undefined }) {
  const words = useWords();
  const failures = useTopic<TaskRunPage>(FAILED_FOR_GOOD);
  const noExecutor = overview?.waiting.NO_EXECUTOR ?? 0;
  return (
    <Panel
      title={words("overview.attention")}
      block={1}
      aside={
        <Link to="/tasks" search={{ status: "FAILED" }}>
          {words("overview.allFailed")}
        </Link>
      }
    >
      <Answer query={failures}>
        {({ taskRuns: failed }) => {
          if (failed.length === 0 && noExecutor === 0) return <Empty>{words("overview.allWell")}</Empty>;
          return (
            <ul>
              {noExecutor > 0 && (
                <li className="flex items-center gap-2.5 border-t border-line px-4 py-2">
                  <StatusIcon status="PENDING" />
                  <Link to="/tasks" search={{ status: "PENDING" }}>
                    {words("overview.noExecutor", { count: noExecutor })}
                  </Link>
                </li>
              )}
              {failed.slice(0, SHOWN).map((taskRun) => (
                <TaskRunLine key={taskRun.taskRunId} taskRun={taskRun}>
                  <TaskRunNote taskRun={taskRun} /> · <TaskRunEnded taskRun={taskRun} />
                </TaskRunLine>
              ))}
            </ul>
          );
        }}
      </Answer>
    </Panel>
  );
}
