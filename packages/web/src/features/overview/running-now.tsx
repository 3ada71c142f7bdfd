import type { TaskRunPage } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { TaskRunLength, TaskRunLink, TaskRunNote, TaskRunStatus } from "../task-runs/task-run-cells.tsx";

export function RunningNow() {
  const words = useWords();
  const query = useTopic<TaskRunPage>("task-runs?status=RUNNING&limit=10");
  return (
    <Panel
      title={words("overview.running")}
      block={2}
      aside={
        <Link to="/tasks" search={{ status: "RUNNING" }}>
          {words("overview.all")}
        </Link>
      }
    >
      <Answer query={query} lines={5}>
        {({ taskRuns }) =>
          taskRuns.length === 0 ? (
            <Empty>{words("overview.nothingRuns")}</Empty>
          ) : (
            <ul>
              {taskRuns.map((taskRun) => (
                <li
                  key={taskRun.taskRunId}
                  className="flex flex-wrap items-center gap-x-3 border-t border-line px-4 py-2"
                >
                  <TaskRunStatus taskRun={taskRun} />
                  <span className="min-w-0 flex-1 basis-40">
                    <TaskRunLink taskRun={taskRun} />
                  </span>
                  <span className="text-sm text-muted">
                    <TaskRunNote taskRun={taskRun} /> · <TaskRunLength taskRun={taskRun} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Panel>
  );
}
