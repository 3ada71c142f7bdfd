import type { Operation } from "@signalbox/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useRef, useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer, ProblemNote } from "../../shared/ui/answer.tsx";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { isEmpty } from "../operations/selection.ts";
import { SelectionBar } from "../operations/selection-bar.tsx";
import { StartedNote } from "../operations/started-note.tsx";
import { useSelection } from "../operations/use-selection.ts";
import { FilterBar } from "./filter-bar.tsx";
import { RunPanel } from "./run-panel.tsx";
import { TaskRunTable } from "./task-run-table.tsx";
import { useHeldRows } from "./use-held-rows.ts";
import { useTaskRunPages } from "./use-task-run-pages.ts";

const route = getRouteApi("/tasks");

export function TaskRunsPage() {
  const words = useWords();
  const search = route.useSearch();
  usePageTitle(words("tasks.title"));
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h1>{words("tasks.title")}</h1>
        <Link to="/operations" className="text-sm">
          {words("operations.title")}
        </Link>
      </div>
      <FilterBar key={JSON.stringify(search)} search={search} />
      {search.runId !== undefined && <RunPanel runId={search.runId} />}
      {/* Another filter is another list: nothing of the old one is held. */}
      <List key={`list ${JSON.stringify(search)}`} />
    </div>
  );
}

function List() {
  const words = useWords();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const place = useRef<HTMLDivElement>(null);
  const { first, rows, more, error, showMore } = useTaskRunPages(search);
  const [held, release] = useHeldRows(rows, place);
  const onEnd = useCallback(() => {
    if (more) showMore();
  }, [more, showMore]);
  const filtered = Object.keys(search).length > 0;
  const selected = useSelection();
  const [started, setStarted] = useState<Operation | null>(null);
  return (
    <div ref={place} className={`panel min-w-0 ${isEmpty(selected.selection) ? "" : "mb-28 md:mb-14"}`}>
      <SelectionBar
        selection={selected.selection}
        search={search}
        onSelect={selected.select}
        onClear={selected.clear}
        onStarted={(operation) => {
          selected.clear();
          setStarted(operation);
        }}
      />
      {started !== null && <StartedNote operation={started} onClose={() => setStarted(null)} />}
      {held.newer > 0 && (
        <div className="sticky top-16 z-10 flex justify-center pt-2">
          <button type="button" className="btn btn-ink rounded-full" onClick={release}>
            {words("tasks.newer", { count: held.newer })}
          </button>
        </div>
      )}
      <Answer query={first} lines={8}>
        {() =>
          held.shown.length === 0 ? (
            <div className="grid justify-items-start gap-3 p-6">
              <p className="text-muted">{words(filtered ? "tasks.noMatch" : "tasks.empty")}</p>
              {filtered && (
                <button type="button" className="btn" onClick={() => void navigate({ search: {} })}>
                  {words("tasks.clear")}
                </button>
              )}
            </div>
          ) : (
            <TaskRunTable rows={held.shown} selected={selected} onEnd={onEnd} />
          )
        }
      </Answer>
      {error !== null && first.data !== undefined && <ProblemNote error={error} />}
    </div>
  );
}
