import type { TaskRun } from "@signalbox/contract";
import type { ReactNode } from "react";
import { TaskRunLink, TaskRunStatus } from "./task-run-cells.tsx";

interface TaskRunLineProps {
  readonly taskRun: TaskRun;
  /** What stands at its end. */
  readonly children: ReactNode;
}

/** A task run in one line of a list. */
export function TaskRunLine({ taskRun, children }: TaskRunLineProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 border-t border-line px-4 py-2">
      <TaskRunStatus taskRun={taskRun} />
      <span className="min-w-0 flex-1 basis-40">
        <TaskRunLink taskRun={taskRun} />
      </span>
      <span className="text-sm text-muted">{children}</span>
    </li>
  );
}
