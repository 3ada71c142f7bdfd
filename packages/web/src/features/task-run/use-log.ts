import type { LogPage, LogSearch, TaskRun } from "@signalbox/contract";
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { readPath } from "../../api/request.ts";
import { addEntry, type LogLine } from "./log-lines.ts";

const PAGE = 1_000;
const FOLLOW_MS = 1_000;
const RETRY_MS = 3_000;
/** So long lines are made before the page may do something else. */
const SLICE_MS = 16;

export interface Log {
  readonly lines: readonly LogLine[];
  /** All that was there when it was asked for has been read. */
  readonly read: boolean;
  readonly ended: boolean;
  readonly error: Error | null;
}

const NOTHING: Log = { lines: [], read: false, ended: false, error: null };

/** What is kept of a log is bounded, so all of it is read; then what is printed since. */
export function useLog(taskRunId: string, status: TaskRun["status"]): Log {
  const [log, setLog] = useState(NOTHING);
  const started = status !== "PENDING" && status !== "AVAILABLE";
  useEffect(() => {
    if (!started) return;
    const leaving = new AbortController();
    setLog(NOTHING);
    void readOn(taskRunId, leaving.signal, setLog);
    return () => leaving.abort();
  }, [taskRunId, started]);
  return log;
}

async function readOn(
  taskRunId: string,
  signal: AbortSignal,
  setLog: (change: (log: Log) => Log) => void,
): Promise<void> {
  const lines: LogLine[] = [];
  let from = 0;
  while (!signal.aborted) {
    try {
      const page = (await readPath(
        `task-runs/${taskRunId}/log?from=${from}&limit=${PAGE}`,
        signal,
      )) as LogPage;
      const all = page.entries.length < PAGE;
      from = page.next;
      await addInSlices(lines, page.entries, signal);
      setLog((log) => ({
        lines: page.entries.length === 0 ? log.lines : [...lines],
        read: log.read || all,
        ended: page.ended,
        error: null,
      }));
      if (page.ended) return;
      if (all) await restUntilSeen(FOLLOW_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      setLog((log) => ({ ...log, error: error instanceof Error ? error : new Error(String(error)) }));
      await restUntilSeen(RETRY_MS, signal);
    }
  }
}

async function addInSlices(
  lines: LogLine[],
  entries: LogPage["entries"],
  signal: AbortSignal,
): Promise<void> {
  let since = performance.now();
  for (const entry of entries) {
    addEntry(lines, entry);
    if (performance.now() - since < SLICE_MS) continue;
    await rest(0, signal);
    since = performance.now();
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** Longer while the tab is hidden: nobody reads what would be asked for. */
async function restUntilSeen(ms: number, signal: AbortSignal): Promise<void> {
  await rest(ms, signal);
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (document.visibilityState === "hidden" && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

/** Over the whole log, on the server: few of its lines are in the document. A page of matches at a time. */
export function useLogSearch(
  taskRunId: string,
  text: string,
  ended: boolean,
): UseInfiniteQueryResult<InfiniteData<LogSearch>, Error> {
  return useInfiniteQuery({
    queryKey: ["log search", taskRunId, text],
    queryFn: async ({ pageParam, signal }) => {
      const query = new URLSearchParams({ search: text, limit: String(PAGE), from: String(pageParam) });
      return (await readPath(`task-runs/${taskRunId}/log?${query.toString()}`, signal)) as LogSearch;
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }: LogSearch) => next,
    enabled: text !== "",
    refetchInterval: ended ? false : 5_000,
    retry: false,
  });
}
