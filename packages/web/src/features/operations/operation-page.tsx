/** One operation: how far it is, what it could not do and why. */

import type { Operation } from "@signalbox/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Clock, Lasting } from "../../shared/time/instant.tsx";
import { ActionButton } from "../../shared/ui/action-button.tsx";
import { Answer, isNotFound } from "../../shared/ui/answer.tsx";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { Panel } from "../../shared/ui/panel.tsx";
import { OperationItems } from "./operation-items.tsx";
import { operationName } from "./operation-name.ts";
import { searchOf } from "./operation-request.ts";
import { OperationState } from "./operation-state.tsx";
import { Progress } from "./progress.tsx";

const route = getRouteApi("/operations/$operationId");

export function OperationPage() {
  const { operationId } = route.useParams();
  const query = useTopic<Operation>(`operations/${encodeURIComponent(operationId)}`);
  if (isNotFound(query.error) && query.data === undefined) return <Unknown operationId={operationId} />;
  return (
    <Answer query={query} lines={6}>
      {(operation) => <Loaded key={operation.operationId} operation={operation} />}
    </Answer>
  );
}

function Loaded({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const { status, operationId } = operation;
  const title = operationName(operation, words);
  usePageTitle(`${words(`operationStatus.${status}`)} · ${title}`);
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="text-sm text-muted">
            <Link to="/tasks" search={searchOf(operation.filter)} className="underline">
              {words("tasks.title")}
            </Link>{" "}
            /{" "}
            <Link to="/operations" className="underline">
              {words("operations.title")}
            </Link>
          </p>
          <h1>{title}</h1>
          <div className="mt-1" aria-live="polite">
            <OperationState status={status} large />
          </div>
        </div>
        {status === "RUNNING" && (
          <ActionButton
            label={words("operation.abort")}
            title={words("operation.abortTitle")}
            keep={words("operation.goOn")}
            act={words("operation.abort")}
            dangerous
            className="btn-danger"
            method="POST"
            path={`operations/${operationId}/abort`}
            body={() => ({ by: "dashboard" })}
          >
            <p>{words("operation.abortText")}</p>
          </ActionButton>
        )}
      </div>
      <Progress operation={operation} />
      <Details operation={operation} />
      <OperationItems operation={operation} />
    </div>
  );
}

function Details({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const { filter, by, reason, createdAt, endedAt, aborted, problem } = operation;
  const conditions = Object.entries(filter).map(([name, value]) =>
    name === "ids" ? words("operation.ids", { count: filter.ids?.length ?? 0 }) : `${name}:${String(value)}`,
  );
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    [words("operation.filter"), conditions.map(safeText).join("  ")],
    [words("operation.by"), by === null ? null : safeText(by)],
    [words("operation.reason"), reason === null ? null : safeText(reason)],
    [words("operation.began"), <Clock key="began" at={createdAt} />],
    [words("column.length"), <Lasting key="length" from={createdAt} until={endedAt} />],
    [
      words("operation.abortedBy"),
      aborted === null ? null : safeText([aborted.by, aborted.reason].filter(Boolean).join(": ")),
    ],
    [words("operation.problem"), problem === null ? null : safeText(problem)],
  ];
  return (
    <Panel title={words("facts.title")}>
      <dl className="grid gap-1.5 px-4 pb-4">
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name} className="grid items-baseline gap-x-3 sm:grid-cols-[10rem_minmax(0,1fr)]">
                <dt className="text-sm text-muted">{name}</dt>
                <dd className="wrap-anywhere">{value}</dd>
              </div>
            ),
        )}
      </dl>
    </Panel>
  );
}

function Unknown({ operationId }: { readonly operationId: string }) {
  const words = useWords();
  return (
    <div className="panel grid justify-items-start gap-3 p-6">
      <h1>{words("operation.unknown")}</h1>
      <p className="font-mono text-sm text-muted wrap-anywhere">{safeText(operationId)}</p>
      <p className="text-muted">{words("operation.unknownText")}</p>
      <Link to="/operations" className="btn">
        {words("operations.title")}
      </Link>
    </div>
  );
}
