/** The column of boxes before a list: each row its own, the head that of all that are shown. */

import type { TaskRun } from "@signalbox/contract";
import { useEffect, useRef } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { isChosen, pageState } from "./selection.ts";
import type { RowSelection } from "./use-selection.ts";

interface SelectPageProps {
  readonly rows: RowSelection;
  readonly shown: readonly string[];
}

export function SelectPage({ rows, shown }: SelectPageProps) {
  const words = useWords();
  const box = useRef<HTMLInputElement>(null);
  const state = pageState(rows.selection, shown);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = state === "some";
  }, [state]);
  return (
    <input
      ref={box}
      type="checkbox"
      // On a narrow screen the head of the table cannot be seen, so nothing in it may have the focus.
      className="hidden size-4 md:block"
      aria-label={words("selection.page")}
      checked={state === "all"}
      onChange={() => rows.togglePage(shown)}
    />
  );
}

interface SelectRowProps extends SelectPageProps {
  readonly taskRun: TaskRun;
}

export function SelectRow({ rows, shown, taskRun }: SelectRowProps) {
  const words = useWords();
  const { taskRunId, title } = taskRun;
  return (
    <input
      type="checkbox"
      className="block size-6 md:size-4"
      aria-label={words("selection.row", { title: safeText(title) })}
      checked={isChosen(rows.selection, taskRunId)}
      // A click by mouse or by the space bar; only the first can be with Shift.
      onClick={(event) => rows.choose(taskRunId, shown, event.shiftKey)}
      onChange={() => {}}
    />
  );
}
