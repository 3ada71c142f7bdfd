import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type MessageId, useWords } from "../../shared/i18n/use-words.ts";
import { safeText, shortId } from "../../shared/safe-text.ts";
import { Icon } from "../../shared/ui/icon.tsx";
import { StatusIcon } from "../../shared/ui/status-icon.tsx";
import { statusesOf, TASK_RUN_STATUSES, type TaskRunSearch, toggleStatus } from "./task-run-search.ts";

const TEXT_FIELDS = ["kind", "queue", "tag"] as const;
const CHIPS = [...TEXT_FIELDS, "runId"] as const;
const WORD: Readonly<Record<(typeof CHIPS)[number], MessageId>> = {
  kind: "column.kind",
  queue: "column.queue",
  tag: "column.tag",
  runId: "column.run",
};

export function FilterBar({ search }: { readonly search: TaskRunSearch }) {
  const words = useWords();
  const navigate = useNavigate();
  const go = (next: TaskRunSearch): void => void navigate({ to: "/tasks", search: next });
  const chosen = statusesOf(search);
  return (
    <div className="grid gap-2">
      <fieldset className="flex flex-wrap gap-2">
        <legend className="sr-only">{words("column.status")}</legend>
        {TASK_RUN_STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            className="chip"
            aria-pressed={chosen.includes(status)}
            onClick={() => go(toggleStatus(search, status))}
          >
            <StatusIcon status={status} size={14} />
            {words(`status.${status}`)}
          </button>
        ))}
      </fieldset>
      <div className="flex flex-wrap items-center gap-2">
        <AddFilter search={search} onAdd={go} />
        {CHIPS.map((field) => {
          const text = search[field];
          if (text === undefined) return null;
          const { [field]: _, ...rest } = search;
          return (
            <button
              key={field}
              type="button"
              className="chip max-w-full"
              title={safeText(text)}
              onClick={() => go(rest)}
            >
              <span className="sr-only">{words("filter.remove")}</span>
              <span className="text-muted">{words(WORD[field])}</span>
              <span className="truncate">{field === "runId" ? shortId(text) : safeText(text)}</span>
              <Icon name="close" size={12} />
            </button>
          );
        })}
      </div>
    </div>
  );
}

interface AddFilterProps {
  readonly search: TaskRunSearch;
  readonly onAdd: (search: TaskRunSearch) => void;
}

function AddFilter({ search, onAdd }: AddFilterProps) {
  const words = useWords();
  const [field, setField] = useState<(typeof TEXT_FIELDS)[number]>("kind");
  const [text, setText] = useState("");
  return (
    <form
      className="flex max-w-full flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onAdd({ ...search, [field]: text.trim() });
      }}
    >
      <select
        className="field"
        aria-label={words("filter.field")}
        value={field}
        onChange={({ target }) => setField(TEXT_FIELDS.find((known) => known === target.value) ?? "kind")}
      >
        {TEXT_FIELDS.map((known) => (
          <option key={known} value={known}>
            {words(WORD[known])}
          </option>
        ))}
      </select>
      <input
        className="field w-44 min-w-0 flex-1"
        data-filter
        aria-label={words("filter.value")}
        placeholder={words("filter.value")}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit" className="btn">
        {words("filter.add")}
      </button>
    </form>
  );
}
