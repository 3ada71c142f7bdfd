/** What several lists say of a task run. */

import type { TaskRun } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Lasting, Relative } from "../../shared/time/instant.tsx";
import { Clamped } from "../../shared/ui/clamped.tsx";
import { StatusBadge } from "../../shared/ui/status-badge.tsx";
import { blockedLabel } from "./cause-label.ts";

interface TaskRunLinkProps {
  readonly taskRun: Pick<TaskRun, "taskRunId" | "title">;
  /** What is read out in the place of the title, which must be in it. */
  readonly label?: string;
}

export function TaskRunLink({ taskRun, label }: TaskRunLinkProps) {
  return (
    <Link
      to="/task-runs/$taskRunId"
      params={{ taskRunId: taskRun.taskRunId }}
      className="font-medium"
      data-row-link
      aria-label={label}
    >
      <Clamped text={safeText(taskRun.title)} />
    </Link>
  );
}

/** Icon and word, and what lies over the status without being one. */
export function TaskRunStatus({ taskRun }: { readonly taskRun: TaskRun }) {
  const words = useWords();
  const canceling = taskRun.status === "RUNNING" && taskRun.cancelRequestedAt !== null;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <StatusBadge status={taskRun.status} />
      {canceling && <span className="text-sm text-muted">{words("overlay.canceling")}</span>}
    </span>
  );
}

/** Why it waits, who has it, or how it ended. */
export function TaskRunNote({ taskRun }: { readonly taskRun: TaskRun }) {
  const words = useWords();
  switch (taskRun.status) {
    case "PENDING":
      return <span>{blockedLabel(taskRun, words)}</span>;
    case "AVAILABLE":
      return <span className="text-muted">{words("note.nobodyYet")}</span>;
    case "RUNNING":
      return (
        <span>
          {taskRun.instanceName === null
            ? words("note.outside")
            : words("note.on", { instance: safeText(taskRun.instanceName) })}
        </span>
      );
    case "DONE":
      return null;
    case "FAILED":
    case "CANCELED":
      return <span className="font-mono text-sm">{taskRun.outcome ?? ""}</span>;
  }
}

/** How long it has been where it is, or how long it ran. */
export function TaskRunLength({ taskRun }: { readonly taskRun: TaskRun }) {
  const { status, enqueuedAt, availableAt, claimedAt, finishedAt } = taskRun;
  switch (status) {
    case "PENDING":
      return <Lasting from={enqueuedAt} />;
    case "AVAILABLE":
      return <Lasting from={availableAt ?? enqueuedAt} />;
    case "RUNNING":
      return <Lasting from={claimedAt ?? enqueuedAt} />;
    case "DONE":
    case "FAILED":
    case "CANCELED":
      return claimedAt === null ? <span>–</span> : <Lasting from={claimedAt} until={finishedAt} />;
  }
}

export function TaskRunEnded({ taskRun }: { readonly taskRun: TaskRun }) {
  return <Relative at={taskRun.finishedAt ?? taskRun.enqueuedAt} />;
}
