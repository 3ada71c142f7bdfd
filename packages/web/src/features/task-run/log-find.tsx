import type { LogSearch } from "@signalbox/contract";
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
  const pages = search.data?.pages ?? [];
  const matches = pages.flatMap((page) => page.matches);
  const current = matches[at];
  useEffect(() => {
    if (current !== undefined) onShow(current.offset);
    // Only another match moves the view; more lines do not.
  }, [current?.offset]);
  const move = async (by: 1 | -1): Promise<void> => {
    const next = at + by;
    // Beyond the first or behind the last one that is here: the others are fetched.
    const outside = next < 0 || next >= matches.length;
    const all = outside ? await fetchAll(search) : matches.length;
    if (all > 0) setAt((next + all) % all);
  };
  const total = pages[0]?.total;
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
          if (key === "Enter") void move(shiftKey ? -1 : 1);
          if (key === "Escape") onClose();
        }}
      />
      <span role="status" className="text-sm tabular-nums">
        {text !== "" && total !== undefined && <Found at={matches.length === 0 ? 0 : at + 1} total={total} />}
      </span>
      <button
        type="button"
        className="btn px-1.5"
        onClick={() => void move(-1)}
        aria-label={words("log.previous")}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        className="btn px-1.5"
        onClick={() => void move(1)}
        aria-label={words("log.next")}
      >
        <Icon name="down" />
      </button>
      <button type="button" className="btn px-1.5" onClick={onClose} aria-label={words("action.close")}>
        <Icon name="close" />
      </button>
    </search>
  );
}

function Found({
  at,
  total: { count, atLeast },
}: {
  readonly at: number;
  readonly total: LogSearch["total"];
}) {
  const words = useWords();
  const total = `${new Intl.NumberFormat(words.locale).format(count)}${atLeast ? "+" : ""}`;
  return words("log.matches", { at, total });
}

/** All pages of matches; the server counts no more than ten of them. */
async function fetchAll(search: ReturnType<typeof useLogSearch>): Promise<number> {
  let { data, hasNextPage } = search;
  while (hasNextPage) ({ data, hasNextPage } = await search.fetchNextPage());
  return (data?.pages ?? []).reduce((sum, { matches }) => sum + matches.length, 0);
}
