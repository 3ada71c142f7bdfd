import { useDeferredValue, useEffect, useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Icon } from "../../shared/ui/icon.tsx";
import { useLogSearch } from "./use-log.ts";

interface LogFindProps {
  readonly taskRunId: string;
  readonly ended: boolean;
  readonly onShow: (offset: number) => void;
  readonly onClose: () => void;
}

export function LogFind({ taskRunId, ended, onShow, onClose }: LogFindProps) {
  const words = useWords();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const search = useLogSearch(taskRunId, useDeferredValue(text), ended);
  const matches = search.data?.matches ?? [];
  const current = matches[at];
  useEffect(() => {
    if (current !== undefined) onShow(current.offset);
    // Only another match moves the view; more lines do not.
  }, [current?.offset]);
  const move = (by: 1 | -1): void => {
    if (matches.length > 0) setAt((before) => (before + by + matches.length) % matches.length);
  };
  const total = search.data?.total;
  return (
    <search className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2">
      <input
        className="field min-w-0 flex-1"
        aria-label={words("log.find")}
        placeholder={words("log.find")}
        autoFocus
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={({ key, shiftKey }) => {
          if (key === "Enter") move(shiftKey ? -1 : 1);
          if (key === "Escape") onClose();
        }}
      />
      <span role="status" className="text-sm tabular-nums">
        {total !== undefined &&
          text !== "" &&
          words("log.matches", {
            at: matches.length === 0 ? 0 : at + 1,
            total: `${new Intl.NumberFormat(words.locale).format(total.count)}${total.atLeast ? "+" : ""}`,
          })}
      </span>
      <button
        type="button"
        className="btn px-1.5"
        onClick={() => move(-1)}
        aria-label={words("log.previous")}
      >
        <Icon name="up" />
      </button>
      <button type="button" className="btn px-1.5" onClick={() => move(1)} aria-label={words("log.next")}>
        <Icon name="down" />
      </button>
      <button type="button" className="btn px-1.5" onClick={onClose} aria-label={words("action.close")}>
        <Icon name="close" />
      </button>
    </search>
  );
}
