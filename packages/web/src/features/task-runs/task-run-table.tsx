/** A real table of which only what can be seen is in the document. */

import type { TaskRun } from "@signalbox/contract";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../../app/shortcuts.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Relative } from "../../shared/time/instant.tsx";
import { SelectPage, SelectRow } from "../operations/select-cells.tsx";
import type { RowSelection } from "../operations/use-selection.ts";
import { TaskRunLength, TaskRunLink, TaskRunNote, TaskRunStatus } from "./task-run-cells.tsx";

interface TaskRunTableProps {
  readonly rows: readonly TaskRun[];
  readonly selected: RowSelection;
  /** The end of the list has come into view. */
  readonly onEnd: () => void;
}

const ROW_HEIGHT = 42;
const AHEAD = 12;

export function TaskRunTable({ rows, selected, onEnd }: TaskRunTableProps) {
  const words = useWords();
  const body = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(
    () => setOffset(body.current === null ? 0 : body.current.getBoundingClientRect().top + scrollY),
    [],
  );
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: AHEAD,
    scrollMargin: offset,
    getItemKey: (index) => rows[index]?.taskRunId ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - AHEAD) onEnd();
  }, [last, rows.length, onEnd]);
  useRowKeys(body);
  const shown = useMemo(() => rows.map(({ taskRunId }) => taskRunId), [rows]);
  const above = (items[0]?.start ?? offset) - offset;
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? offset) - offset);
  return (
    <table
      className="data-table md:table-fixed"
      role="table"
      aria-rowcount={rows.length + 1}
      aria-label={words("tasks.title")}
    >
      <Head rows={selected} shown={shown} />
      <tbody ref={body} role="rowgroup">
        <Gap height={above} />
        {items.map(({ index, key }) => {
          const taskRun = rows[index];
          return (
            taskRun !== undefined && (
              <Row
                key={key}
                index={index}
                taskRun={taskRun}
                selected={selected}
                shown={shown}
                measure={virtual.measureElement}
              />
            )
          );
        })}
        <Gap height={below} />
      </tbody>
    </table>
  );
}

function Head(page: Parameters<typeof SelectPage>[0]) {
  const words = useWords();
  return (
    <thead role="rowgroup">
      <tr role="row" aria-rowindex={1}>
        <th role="columnheader" className="w-10">
          <SelectPage {...page} />
        </th>
        <th role="columnheader" className="w-32">
          {words("column.status")}
        </th>
        <th role="columnheader">{words("column.task")}</th>
        <th role="columnheader" className="w-[24%]">
          {words("column.cause")}
        </th>
        <th role="columnheader" className="w-36 max-xl:hidden">
          {words("column.kind")}
        </th>
        <th role="columnheader" className="w-20 max-xl:hidden">
          {words("column.attempt")}
        </th>
        <th role="columnheader" className="w-20 max-lg:hidden">
          {words("column.length")}
        </th>
        <th role="columnheader" className="w-28">
          {words("column.enqueued")}
        </th>
      </tr>
    </thead>
  );
}

interface RowProps {
  readonly index: number;
  readonly taskRun: TaskRun;
  readonly selected: RowSelection;
  readonly shown: readonly string[];
  readonly measure: (element: HTMLElement | null) => void;
}

function Row({ index, taskRun, selected, shown, measure }: RowProps) {
  const words = useWords();
  const label = words("taskRun.name", {
    status: words(`status.${taskRun.status}`),
    title: safeText(taskRun.title),
    attempt: taskRun.attempt,
    attempts: taskRun.attempts,
  });
  return (
    <tr
      role="row"
      className="max-md:relative"
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      data-task-run={taskRun.taskRunId}
      data-row-version={taskRun.rowVersion}
    >
      <td role="cell" className="max-md:absolute max-md:end-0 md:[&&]:align-middle">
        <SelectRow rows={selected} shown={shown} taskRun={taskRun} />
      </td>
      <td role="cell">
        <TaskRunStatus taskRun={taskRun} />
      </td>
      <td role="cell">
        <TaskRunLink taskRun={taskRun} label={label} />
      </td>
      <td role="cell" data-label={words("column.cause")} className="md:text-sm">
        <TaskRunNote taskRun={taskRun} />
      </td>
      <td role="cell" className="text-sm text-muted max-xl:hidden">
        {safeText(taskRun.kind)}
      </td>
      <td role="cell" className="text-sm tabular-nums max-xl:hidden">
        {taskRun.attempt}
        {taskRun.attempts > 1 && <span className="text-muted"> / {taskRun.attempts}</span>}
      </td>
      <td role="cell" data-label={words("column.length")} className="md:text-sm md:max-lg:hidden">
        <TaskRunLength taskRun={taskRun} />
      </td>
      <td role="cell" data-label={words("column.enqueued")} className="text-muted md:text-sm">
        <Relative at={taskRun.enqueuedAt} />
      </td>
    </tr>
  );
}

function Gap({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td style={{ height, padding: 0, border: 0 }} colSpan={8} />
    </tr>
  );
}

/** `j` and `k` go from row to row; the link of a row has the focus, so that Enter opens it. */
function useRowKeys(body: React.RefObject<HTMLElement | null>): void {
  const move = (by: 1 | -1) => (): void => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>("[data-row-link]") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    const next = links[at === -1 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcuts({ j: move(1), k: move(-1) });
}
