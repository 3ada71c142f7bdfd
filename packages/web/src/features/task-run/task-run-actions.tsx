import type { Retried, TaskRunDetail } from "@signalbox/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { ActionButton } from "../../shared/ui/action-button.tsx";
import { askedBecause, ReasonField } from "../../shared/ui/reason-field.tsx";
import { DeferButton } from "./defer-button.tsx";
import { useAttempts } from "./use-attempts.ts";

const OPEN = new Set(["PENDING", "AVAILABLE", "RUNNING"]);

export function TaskRunActions({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  if (OPEN.has(taskRun.status))
    return (
      <span className="flex flex-wrap gap-2">
        {taskRun.status !== "RUNNING" && <DeferButton taskRun={taskRun} />}
        <Cancel taskRun={taskRun} />
      </span>
    );
  if (taskRun.status === "FAILED" || taskRun.status === "CANCELED") return <Retry taskRun={taskRun} />;
  return null;
}

function Cancel({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  const [reason, setReason] = useState("");
  const running = taskRun.status === "RUNNING";
  const asked = running && taskRun.cancelRequestedAt !== null;
  return (
    <ActionButton
      label={words("cancel.act")}
      title={words("cancel.title", { title: safeText(taskRun.title) })}
      keep={words(running ? "cancel.keepRunning" : "cancel.keep")}
      act={words("cancel.act")}
      dangerous
      className="btn-danger"
      disabledBecause={asked ? words("cancel.asked") : undefined}
      method="POST"
      path={`task-runs/${taskRun.taskRunId}/cancel`}
      body={() => askedBecause(reason)}
    >
      <p>{words(running ? "cancel.textRunning" : "cancel.text")}</p>
      <ReasonField reason={reason} onChange={setReason} />
    </ActionButton>
  );
}

function Retry({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  const navigate = useNavigate();
  const { data } = useAttempts(taskRun);
  // Of a task that has gone on, an earlier attempt has nothing to be retried; until it is known, this may be one.
  if (data?.taskRuns[0]?.taskRunId !== taskRun.taskRunId) return null;
  return (
    <ActionButton
      label={words("retry.act")}
      title={words("retry.title", { title: safeText(taskRun.title) })}
      keep={words("retry.keep")}
      act={words("retry.act")}
      method="POST"
      path={`task-runs/${taskRun.taskRunId}/retry`}
      body={() => ({ by: "dashboard" })}
      onDone={(answer) => {
        const { taskRunId } = answer as Retried;
        void navigate({ to: "/task-runs/$taskRunId", params: { taskRunId } });
      }}
    >
      <p>{words("retry.text", { attempt: taskRun.attempt + 1 })}</p>
    </ActionButton>
  );
}
