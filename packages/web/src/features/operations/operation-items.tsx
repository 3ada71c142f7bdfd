/** What an operation could not do, each with why, and the part that failed once more. */

import type { Operation, OperationItem, OperationItemPage } from "@signalbox/contract";
import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { change, readPath } from "../../api/request.ts";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText, shortId } from "../../shared/safe-text.ts";
import { Answer, ProblemNote } from "../../shared/ui/answer.tsx";
import { Clamped } from "../../shared/ui/clamped.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { newKey } from "./operation-request.ts";
import type { SkipReason } from "./progress-of.ts";

const SHOWN = 200;
const MOST = 500;

export function OperationItems({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const query = useTopic<OperationItemPage>(`operations/${operation.operationId}/items?limit=${SHOWN}`);
  return (
    <Panel
      title={words("operation.items")}
      aside={operation.status !== "RUNNING" && operation.failed > 0 && <RetryFailed operation={operation} />}
    >
      <Answer query={query}>
        {({ items, next }) =>
          items.length === 0 ? (
            <Empty>{words("operation.noItems")}</Empty>
          ) : (
            <>
              <Items items={items} />
              {next !== null && <Empty>{words("state.cut")}</Empty>}
            </>
          )
        }
      </Answer>
    </Panel>
  );
}

function Items({ items }: { readonly items: readonly OperationItem[] }) {
  const words = useWords();
  return (
    <table className="data-table" aria-label={words("operation.items")}>
      <thead>
        <tr>
          <th>{words("column.taskRun")}</th>
          <th>{words("operation.result")}</th>
          <th>{words("operation.why")}</th>
        </tr>
      </thead>
      <tbody>
        {items.map(({ itemNo, taskRunId, title, result, reason, detail }) => (
          <tr key={itemNo} data-item={reason}>
            <td>
              <Link to="/task-runs/$taskRunId" params={{ taskRunId }} title={taskRunId}>
                {title === null ? shortId(taskRunId) : <Clamped text={safeText(title)} />}
              </Link>
            </td>
            <td data-label={words("operation.result")} className="whitespace-nowrap">
              {words(`operation.${result}`)}
            </td>
            <td data-label={words("operation.why")}>
              {result === "skipped"
                ? words(`skip.${reason as SkipReason}`)
                : safeText(`${reason} ${detail ?? ""}`)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Another operation, about these and no others; with one key, however often it is pressed. */
function RetryFailed({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const navigate = useNavigate();
  const [key] = useState(newKey);
  const { operationId, verb } = operation;
  const again = useMutation({
    mutationFn: async () => {
      const path = `operations/${operationId}/items?result=failed&limit=${MOST}`;
      const { items } = (await readPath(path)) as OperationItemPage;
      const filter = { ids: items.map(({ taskRunId }) => taskRunId) };
      return (await change("POST", "operations", { verb, filter, by: "dashboard" }, key)) as Operation;
    },
    onSuccess: async (begun) =>
      await navigate({ to: "/operations/$operationId", params: { operationId: begun.operationId } }),
  });
  return (
    <>
      <button type="button" className="btn" disabled={again.isPending} onClick={() => again.mutate()}>
        {words("operation.retryFailed")}
      </button>
      {again.error !== null && <ProblemNote error={again.error} />}
    </>
  );
}
