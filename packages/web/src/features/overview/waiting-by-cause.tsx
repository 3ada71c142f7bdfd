import type { Overview } from "@signalbox/contract";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { codeLabel, type WaitingCode } from "../task-runs/cause-label.ts";

export function WaitingByCause({ query }: { readonly query: UseQueryResult<Overview, Error> }) {
  const words = useWords();
  return (
    <Panel
      title={words("overview.waiting")}
      block={3}
      aside={
        <Link to="/tasks" search={{ status: "PENDING" }}>
          {words("overview.all")}
        </Link>
      }
    >
      <Answer query={query} lines={4}>
        {({ waiting, available }) => <Causes waiting={waiting} available={available} />}
      </Answer>
    </Panel>
  );
}

function Causes({ waiting, available }: Pick<Overview, "waiting" | "available">) {
  const words = useWords();
  const number = new Intl.NumberFormat(words.locale);
  const causes = (Object.entries(waiting) as [WaitingCode, number][])
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one);
  const most = Math.max(1, ...causes.map(([, count]) => count));
  return (
    <>
      {causes.length === 0 && <Empty>{words("overview.nothingWaits")}</Empty>}
      <ul className="grid gap-2 px-4 pb-3">
        {causes.map(([code, count]) => (
          <li key={code}>
            <div className="flex justify-between gap-3">
              <span>{codeLabel(code, words)}</span>
              <span className="font-semibold tabular-nums">{number.format(count)}</span>
            </div>
            <div aria-hidden="true" className="mt-0.5 h-1.5 overflow-hidden rounded bg-raised">
              <div className="h-full rounded bg-pending" style={{ width: `${(100 * count) / most}%` }} />
            </div>
          </li>
        ))}
      </ul>
      <p className="border-t border-line px-4 py-2 text-sm text-muted">
        {words("overview.available", { count: available })}
      </p>
    </>
  );
}
