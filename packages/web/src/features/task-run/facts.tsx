import type { TaskRunDetail } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText, shortId } from "../../shared/safe-text.ts";
import { Clock } from "../../shared/time/instant.tsx";
import { CopyButton } from "../../shared/ui/copy-button.tsx";
import { Panel } from "../../shared/ui/panel.tsx";

export function Facts({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  const { kind, queue, priority, runId, runAt, version, resources, concurrencyKey, rate, tags } = taskRun;
  return (
    <Panel title={words("facts.title")}>
      <dl className="grid gap-1.5 px-4 pb-4">
        <Fact name={words("column.taskRun")}>
          <Id id={taskRun.taskRunId} />
        </Fact>
        <Fact name={words("column.task")}>
          <Id id={taskRun.taskId} />
        </Fact>
        <Fact name={words("column.kind")}>
          <Link to="/tasks" search={{ kind }}>
            {safeText(kind)}
          </Link>
        </Fact>
        <Fact name={words("column.queue")}>
          <Link to="/tasks" search={{ queue }}>
            {safeText(queue)}
          </Link>
        </Fact>
        <Fact name={words("column.priority")}>{priority}</Fact>
        {runId !== null && (
          <Fact name={words("column.run")}>
            <Link to="/tasks" search={{ runId }} className="font-mono text-sm" title={runId}>
              {shortId(runId)}
            </Link>
          </Fact>
        )}
        {resources.length > 0 && (
          <Fact name={words("column.resources")}>
            <Resources resources={resources} />
          </Fact>
        )}
        {version !== null && <Fact name={words("column.version")}>{version}</Fact>}
        {runAt !== null && (
          <Fact name={words("gate.RUN_AT")}>
            <Clock at={runAt} />
          </Fact>
        )}
        {concurrencyKey !== null && <Fact name={words("gate.KEY_LIMIT")}>{safeText(concurrencyKey)}</Fact>}
        {rate !== null && <Fact name={words("gate.RATE_LIMIT")}>{safeText(rate)}</Fact>}
        {tags.length > 0 && <Fact name={words("column.tag")}>{tags.map(safeText).join(", ")}</Fact>}
        <Claimed taskRun={taskRun} />
      </dl>
    </Panel>
  );
}

function Claimed({ taskRun: { instanceName, claimNo } }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  return (
    <>
      {instanceName !== null && (
        <Fact name={words("column.instance")}>
          <Link to="/cluster">{safeText(instanceName)}</Link>
        </Fact>
      )}
      {claimNo !== null && <Fact name={words("column.claimNo")}>{claimNo}</Fact>}
    </>
  );
}

function Resources({ resources }: { readonly resources: TaskRunDetail["resources"] }) {
  const words = useWords();
  return (
    <ul>
      {resources.map(({ name, mode }) => (
        <li key={name}>
          <Link to="/resources/$name" params={{ name }}>
            {safeText(name)}
          </Link>{" "}
          <span className="text-sm text-muted">{words(`mode.${mode}`)}</span>
        </li>
      ))}
    </ul>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="grid grid-cols-[7.5rem_minmax(0,1fr)] items-baseline gap-x-3">
      <dt className="text-sm leading-6 text-muted">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}

function Id({ id }: { readonly id: string }) {
  const words = useWords();
  return (
    <span className="flex items-center gap-1 font-mono text-sm" title={id}>
      {shortId(id)}
      <CopyButton text={id} label={words("copy.id")} />
    </span>
  );
}
