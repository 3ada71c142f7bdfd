/** The run whose tasks the list shows: where it stands, its limit, and what can be done to it. */

import type { RunDetail } from "@signalbox/contract";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { ActionButton } from "../../shared/ui/action-button.tsx";
import { Answer } from "../../shared/ui/answer.tsx";
import { LimitButton } from "../../shared/ui/limit-button.tsx";
import { Panel } from "../../shared/ui/panel.tsx";
import { PauseButton } from "../../shared/ui/pause-button.tsx";
import { StatusBadge } from "../../shared/ui/status-badge.tsx";
import { TASK_RUN_STATUSES } from "./task-run-search.ts";

export function RunPanel({ runId }: { readonly runId: string }) {
  const query = useTopic<RunDetail>(`runs/${encodeURIComponent(runId)}`);
  return (
    <Answer query={query} lines={2}>
      {(run) => <Loaded run={run} />}
    </Answer>
  );
}

function Loaded({ run }: { readonly run: RunDetail }) {
  const words = useWords();
  const title = safeText(run.title);
  const open = run.status === "RUNNING";
  const counts = TASK_RUN_STATUSES.flatMap((status) => {
    const count = run.tasks[status];
    return count === 0 ? [] : [{ status, count }];
  });
  return (
    <Panel title={title} aside={<StatusBadge status={open && run.paused !== null ? "PAUSED" : run.status} />}>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2 px-4 pb-4">
        {counts.map(({ status, count }) => (
          <span key={status} className="inline-flex items-center gap-2 tabular-nums">
            {count} <StatusBadge status={status} />
          </span>
        ))}
        <span className="text-muted">
          {run.limit === 0 ? words("limit.none") : words("limit.atOnce", { limit: run.limit })}
        </span>
        {open && (
          <span className="flex flex-wrap gap-2 sm:ms-auto">
            <LimitButton
              name={title}
              limit={run.limit}
              path={`runs/${encodeURIComponent(run.runId)}/limit`}
            />
            <PauseButton name={title} what={{ runId: run.runId }} paused={run.paused !== null} />
            <ActionButton
              label={words("run.cancel")}
              title={words("run.cancelTitle", { title })}
              keep={words("cancel.keep")}
              act={words("run.cancel")}
              dangerous
              className="btn-danger"
              method="POST"
              path={`runs/${encodeURIComponent(run.runId)}/cancel`}
              body={() => ({ by: "dashboard" })}
            >
              <p>{words("run.cancelText", { count: run.openTasks })}</p>
            </ActionButton>
          </span>
        )}
      </div>
    </Panel>
  );
}
