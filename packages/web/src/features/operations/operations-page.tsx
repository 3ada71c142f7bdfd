/** Every operation, newest first. An older page is an address of its own: what it begins with never moves. */

import type { Operation, OperationPage } from "@signalbox/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Lasting, Relative } from "../../shared/time/instant.tsx";
import { Answer } from "../../shared/ui/answer.tsx";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { operationName } from "./operation-name.ts";
import { OperationState } from "./operation-state.tsx";
import { ProgressBar } from "./progress-bar.tsx";
import { skippedOf } from "./progress-of.ts";

const route = getRouteApi("/operations");
const SHOWN = 25;

export function OperationsPage() {
  const words = useWords();
  const { before } = route.useSearch();
  const from = before === undefined ? "" : `&before=${encodeURIComponent(before)}`;
  const query = useTopic<OperationPage>(`operations?limit=${SHOWN}${from}`);
  usePageTitle(words("operations.title"));
  return (
    <div className="grid gap-4">
      <div>
        <p className="text-sm text-muted">
          <Link to="/tasks" className="underline">
            {words("tasks.title")}
          </Link>{" "}
          / {words("operations.title")}
        </p>
        <h1>{words("operations.title")}</h1>
      </div>
      <div className="panel min-w-0">
        <Answer query={query} lines={6}>
          {({ operations }) => (operations.length === 0 ? <Nothing /> : <Table operations={operations} />)}
        </Answer>
      </div>
      {query.data !== undefined && <Pages before={before} next={query.data.next} />}
    </div>
  );
}

function Pages({ before, next }: { readonly before: string | undefined; readonly next: string | null }) {
  const words = useWords();
  if (before === undefined && next === null) return null;
  return (
    <nav className="flex gap-2" aria-label={words("operations.pages")}>
      {before !== undefined && (
        <Link to="/operations" className="btn">
          {words("operations.newest")}
        </Link>
      )}
      {next !== null && (
        <Link to="/operations" search={{ before: next }} className="btn">
          {words("operations.older")}
        </Link>
      )}
    </nav>
  );
}

function Nothing() {
  const words = useWords();
  return (
    <div className="grid justify-items-start gap-3 p-6">
      <p className="text-muted">{words("operations.empty")}</p>
      <Link to="/tasks" className="btn">
        {words("nav.tasks")}
      </Link>
    </div>
  );
}

function Table({ operations }: { readonly operations: readonly Operation[] }) {
  const words = useWords();
  return (
    <table className="data-table md:table-fixed" role="table" aria-label={words("operations.title")}>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" className="w-32">
            {words("column.status")}
          </th>
          <th role="columnheader">{words("operation.title")}</th>
          <th role="columnheader" className="w-[28%]">
            {words("operation.progress")}
          </th>
          <th role="columnheader" className="w-32">
            {words("operation.by")}
          </th>
          <th role="columnheader" className="w-20 max-lg:hidden">
            {words("column.length")}
          </th>
          <th role="columnheader" className="w-28">
            {words("operation.began")}
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {operations.map((operation) => (
          <Row key={operation.operationId} operation={operation} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const { operationId, status, by, reason, createdAt, endedAt } = operation;
  return (
    <tr role="row" data-operation={operationId}>
      <td role="cell">
        <OperationState status={status} />
      </td>
      <td role="cell">
        <div className="min-w-0">
          <Link to="/operations/$operationId" params={{ operationId }} className="font-medium" data-row-link>
            {operationName(operation, words)}
          </Link>
          {reason !== null && <p className="text-sm text-muted">{safeText(reason)}</p>}
        </div>
      </td>
      <td role="cell" data-label={words("operation.progress")}>
        <div className="grid min-w-0 flex-1 gap-1 md:pt-1.5">
          <ProgressBar operation={operation} />
          <Counts operation={operation} />
        </div>
      </td>
      <td role="cell" data-label={words("operation.by")} className="md:text-sm">
        {by === null ? "–" : safeText(by)}
      </td>
      <td role="cell" data-label={words("column.length")} className="md:text-sm md:max-lg:hidden">
        <Lasting from={createdAt} until={endedAt} />
      </td>
      <td role="cell" data-label={words("operation.began")} className="text-muted md:text-sm">
        <Relative at={createdAt} />
      </td>
    </tr>
  );
}

/** "1,204 done · 3 skipped · 1 failed"; what there is none of is not said. */
function Counts({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const number = new Intl.NumberFormat(words.locale);
  const counts = [
    ["done", operation.done],
    ["skipped", skippedOf(operation)],
    ["failed", operation.failed],
  ] as const;
  const told = counts.filter(([name, count]) => name === "done" || count > 0);
  return (
    <p className="text-sm text-muted tabular-nums">
      {told.map(([name, count]) => words(`operations.${name}`, { shown: number.format(count) })).join(" · ")}
    </p>
  );
}
