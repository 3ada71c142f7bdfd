/** What can be done about the rows that are chosen, and how many of them. */

import type { Operation, OperationFilter, OperationPreview } from "@signalbox/contract";
import { useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { problemText } from "../../shared/ui/answer.tsx";
import { Icon } from "../../shared/ui/icon.tsx";
import { countText } from "../resources/count-text.ts";
import type { TaskRunSearch } from "../task-runs/task-run-search.ts";
import { OperationDialog } from "./operation-dialog.tsx";
import { filterOf, type OperationVerb } from "./operation-request.ts";
import { isEmpty, type Selection } from "./selection.ts";
import { usePreview } from "./use-preview.ts";

interface SelectionBarProps {
  readonly selection: Selection;
  readonly search: TaskRunSearch;
  readonly onSelect: (selection: Selection) => void;
  readonly onClear: () => void;
  readonly onStarted: (operation: Operation) => void;
}

export function SelectionBar(props: SelectionBarProps) {
  const { selection, search, onSelect, onClear, onStarted } = props;
  const words = useWords();
  const filter = isEmpty(selection) ? null : filterOf(selection, search);
  const whole = filterOf({ kind: "all" }, search);
  const all = usePreview("cancel", isEmpty(selection) ? null : whole);
  if (filter === null) return null;
  const chosen =
    selection.kind === "rows" ? { count: selection.ids.size, atLeast: false } : all.data?.matched;
  return (
    <section
      aria-label={words("selection.label")}
      // Over the end of the page: it must not move the row that was just chosen away from the pointer.
      className="fixed inset-x-0 bottom-14 z-10 flex flex-wrap items-center gap-2 border-t border-line bg-raised px-4 py-2 md:bottom-0 md:left-[13.5rem]"
    >
      <span className="font-semibold" role="status">
        {chosen !== undefined &&
          words("selection.count", { count: chosen.count, shown: countText(chosen, words.locale) })}
      </span>
      {selection.kind === "rows" && (
        <SelectAll whole={whole} matched={all.data?.matched} onSelect={() => onSelect({ kind: "all" })} />
      )}
      <span className="flex flex-1 flex-wrap justify-end gap-2">
        <Act verb="retry" filter={filter} onStarted={onStarted} />
        <Act verb="cancel" filter={filter} onStarted={onStarted} />
        <button
          type="button"
          className="btn btn-quiet px-1.5"
          title={words("selection.clear")}
          onClick={onClear}
        >
          <Icon name="close" />
          <span className="sr-only">{words("selection.clear")}</span>
        </button>
      </span>
    </section>
  );
}

interface SelectAllProps {
  /** Null: nothing is filtered, and all would be everything there is. */
  readonly whole: OperationFilter | null;
  readonly matched: OperationPreview["matched"] | undefined;
  readonly onSelect: () => void;
}

function SelectAll({ whole, matched, onSelect }: SelectAllProps) {
  const words = useWords();
  if (whole === null) return <span className="text-sm text-muted">{words("selection.filterFirst")}</span>;
  if (matched === undefined) return null;
  return (
    <button type="button" className="btn btn-quiet underline" onClick={onSelect}>
      {words("selection.all", { shown: countText(matched, words.locale) })}
    </button>
  );
}

interface ActProps {
  readonly verb: OperationVerb;
  readonly filter: OperationFilter;
  readonly onStarted: (operation: Operation) => void;
}

/** Says of how many it can be done; where of none, it stays there and says why. */
function Act({ verb, filter, onStarted }: ActProps) {
  const words = useWords();
  const [asking, setAsking] = useState(false);
  const { data, error, isPlaceholderData, refetch } = usePreview(verb, filter);
  // Where the count stopped at its bound there may be some behind it.
  const isNone = data === undefined || (data.eligible.count === 0 && !data.eligible.atLeast);
  const why = error === null ? whyNone(data, words) : problemText(error, words("problem.unreachable"));
  const label =
    data === undefined
      ? words(`operation.${verb}`)
      : words(`selection.${verb}`, {
          eligible: countText(data.eligible, words.locale),
          matched: countText(data.matched, words.locale),
        });
  return (
    <>
      <button
        type="button"
        className={`btn ${verb === "cancel" ? "btn-danger" : ""}`}
        disabled={isNone || isPlaceholderData}
        title={isNone ? why : undefined}
        onClick={() => {
          // What the dialog says is of this moment.
          void refetch();
          setAsking(true);
        }}
      >
        {label}
      </button>
      {asking && data !== undefined && (
        <OperationDialog
          preview={data}
          filter={filter}
          onKeep={() => setAsking(false)}
          onStarted={(operation) => {
            setAsking(false);
            onStarted(operation);
          }}
        />
      )}
    </>
  );
}

function whyNone(
  preview: OperationPreview | undefined,
  words: ReturnType<typeof useWords>,
): string | undefined {
  const reason = preview?.groups.find((group) => group.reason !== null)?.reason ?? null;
  return reason === null ? undefined : words(`skip.${reason}`);
}
