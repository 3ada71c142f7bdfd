import type { TaskRunPage } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { TaskRunLength, TaskRunNote } from "../task-runs/task-run-cells.tsx";
import { TaskRunLine } from "../task-runs/task-run-line.tsx";

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
                <TaskRunLine key={taskRun.taskRunId} taskRun={taskRun}>
                  <TaskRunNote taskRun={taskRun} /> · <TaskRunLength taskRun={taskRun} />
                </TaskRunLine>
              ))}
            </ul>
          )
        }
      </Answer>
    </Panel>
  );
}
