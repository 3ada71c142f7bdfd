import type { InstanceDetail, InstanceView } from "@signalbox/contract";
import { useState } from "react";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText, shortId } from "../../shared/safe-text.ts";
import { Relative } from "../../shared/time/instant.tsx";
import { Answer } from "../../shared/ui/answer.tsx";
import { Empty } from "../../shared/ui/panel.tsx";
import { TaskRunLength, TaskRunLink } from "../task-runs/task-run-cells.tsx";
import { BeatBar } from "./beat-bar.tsx";
import { DrainButton } from "./drain-button.tsx";
import { InstanceState } from "./instance-state.tsx";

interface InstanceCardProps {
  readonly instance: InstanceView;
  readonly readAt: string;
}

export function InstanceCard({ instance, readAt }: InstanceCardProps) {
  const words = useWords();
  const [open, setOpen] = useState(false);
  const { instanceId, name, running, slots, kinds, startedAt, beatAt } = instance;
  return (
    <section className="panel min-w-0 overflow-clip" aria-label={safeText(name)} data-instance={name}>
      <div className="grid gap-3 p-4">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h2>{safeText(name)}</h2>
          <InstanceState instance={instance} readAt={readAt} />
          <span className="ms-auto font-mono text-xs text-muted" title={instanceId}>
            {shortId(instanceId)}
          </span>
        </div>
        <BeatBar instance={instance} />
        <dl className="grid grid-cols-3 gap-x-4 gap-y-1 text-sm">
          <div>
            <dt className="text-muted">{words("column.slots")}</dt>
            <dd className="tabular-nums">
              {running} / {slots}
            </dd>
          </div>
          <div>
            <dt className="text-muted">{words("cluster.lastBeat")}</dt>
            <dd>
              <Relative at={beatAt} />
            </dd>
          </div>
          <div>
            <dt className="text-muted">{words("cluster.started")}</dt>
            <dd>
              <Relative at={startedAt} />
            </dd>
          </div>
        </dl>
        {kinds.length > 0 && (
          <p className="text-sm text-muted">
            {words("column.kind")}: {kinds.map(safeText).join(", ")}
          </p>
        )}
        <div className="flex min-h-8 flex-wrap items-center gap-2">
          {running > 0 || open ? (
            <button type="button" className="btn" aria-expanded={open} onClick={() => setOpen(!open)}>
              {words(open ? "cluster.hide" : "cluster.holds", { count: running })}
            </button>
          ) : (
            <p className="text-sm text-muted">{words("cluster.holdsNothing")}</p>
          )}
          <DrainButton instance={instance} />
        </div>
      </div>
      {open && <Holds instanceId={instanceId} />}
    </section>
  );
}

function Holds({ instanceId }: { readonly instanceId: string }) {
  const words = useWords();
  const query = useTopic<InstanceDetail>(`instances/${encodeURIComponent(instanceId)}`);
  return (
    <Answer query={query}>
      {({ taskRuns, cut }) => (
        <>
          {taskRuns.length === 0 && <Empty>{words("cluster.holdsNothing")}</Empty>}
          <ul>
            {taskRuns.map((taskRun) => (
              <li
                key={taskRun.taskRunId}
                className="flex flex-wrap items-center gap-x-3 border-t border-line px-4 py-2"
              >
                <span className="min-w-0 flex-1 basis-40">
                  <TaskRunLink taskRun={taskRun} />
                </span>
                <span className="text-sm text-muted tabular-nums">
                  {words("column.claimNo")} {taskRun.claimNo} · <TaskRunLength taskRun={taskRun} />
                </span>
              </li>
            ))}
          </ul>
          {cut && <p className="px-4 py-2 text-sm text-muted">{words("state.cut")}</p>}
        </>
      )}
    </Answer>
  );
}
