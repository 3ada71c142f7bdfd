import type { Explanation, TaskRunDetail } from "@signalbox/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy } from "react";
import { useShortcuts } from "../../app/shortcuts.ts";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Answer, isNotFound } from "../../shared/ui/answer.tsx";
import { BlockBoundary } from "../../shared/ui/block-boundary.tsx";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { StatusBadge } from "../../shared/ui/status-badge.tsx";
import { Attempts } from "./attempts.tsx";
import { Facts } from "./facts.tsx";
import { InputOutput } from "./input-output.tsx";
import { TaskRunActions } from "./task-run-actions.tsx";
import { Timeline } from "./timeline.tsx";
import { WhyPanel } from "./why-panel.tsx";

const LogPanel = lazy(async () => ({ default: (await import("./log-panel.tsx")).LogPanel }));
const route = getRouteApi("/task-runs/$taskRunId");

export function TaskRunPage() {
  const { taskRunId } = route.useParams();
  const topic = `task-runs/${encodeURIComponent(taskRunId)}`;
  const query = useTopic<TaskRunDetail>(topic);
  const explanation = useTopic<Explanation>(isNotFound(query.error) ? null : `${topic}/explanation`);
  if (isNotFound(query.error) && query.data === undefined) return <Unknown taskRunId={taskRunId} />;
  return (
    <Answer query={query} lines={8}>
      {(taskRun) => <Loaded key={taskRun.taskRunId} taskRun={taskRun} explanation={explanation.data} />}
    </Answer>
  );
}

interface LoadedProps {
  readonly taskRun: TaskRunDetail;
  readonly explanation: Explanation | undefined;
}

function Loaded({ taskRun, explanation }: LoadedProps) {
  const words = useWords();
  const title = safeText(taskRun.title);
  usePageTitle(`${words(`status.${taskRun.status}`)} · ${title}`);
  useShortcuts({ w: focusOn("why"), l: focusOn("log") });
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="text-sm text-muted">
            <Link to="/tasks" className="underline">
              {words("tasks.title")}
            </Link>{" "}
            / {words("taskRun.attempt", { attempt: taskRun.attempt, attempts: taskRun.attempts })}
          </p>
          <h1>{title}</h1>
          <div className="mt-1 flex flex-wrap items-center gap-3" aria-live="polite">
            <StatusBadge status={taskRun.status} large />
            {taskRun.status === "RUNNING" && taskRun.cancelRequestedAt !== null && (
              <span className="font-medium">{words("overlay.canceling")}</span>
            )}
          </div>
        </div>
        <TaskRunActions taskRun={taskRun} />
      </div>
      {explanation !== undefined && explanation.taskRunId === taskRun.taskRunId && (
        <WhyPanel explanation={explanation} taskRun={taskRun} />
      )}
      <div className="grid min-w-0 gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 content-start gap-4">
          <Timeline taskRun={taskRun} />
          <BlockBoundary>
            <LogPanel taskRunId={taskRun.taskRunId} status={taskRun.status} />
          </BlockBoundary>
          <InputOutput taskRun={taskRun} />
        </div>
        <div className="grid min-w-0 content-start gap-4">
          <Facts taskRun={taskRun} />
          <Attempts taskRun={taskRun} />
        </div>
      </div>
    </div>
  );
}

function Unknown({ taskRunId }: { readonly taskRunId: string }) {
  const words = useWords();
  return (
    <div className="panel grid justify-items-start gap-3 p-6">
      <h1>{words("taskRun.unknown")}</h1>
      <p className="font-mono text-sm text-muted wrap-anywhere">{safeText(taskRunId)}</p>
      <p className="text-muted">{words("taskRun.unknownText")}</p>
      <Link to="/tasks" className="btn">
        {words("nav.tasks")}
      </Link>
    </div>
  );
}

function focusOn(id: string): () => void {
  return () => {
    const place = document.getElementById(id);
    place?.focus();
    place?.scrollIntoView({ block: "start" });
  };
}
