import type { LogPage, LogSearch, TaskRun } from "@signalbox/contract";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { readPath } from "../../api/request.ts";
import { addEntries, type LogLine } from "./log-lines.ts";

const PAGE = 1_000;
const FOLLOW_MS = 1_000;
const RETRY_MS = 3_000;

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
  let from = 0;
  while (!signal.aborted) {
    try {
      const page = (await readPath(
        `task-runs/${taskRunId}/log?from=${from}&limit=${PAGE}`,
        signal,
      )) as LogPage;
      const all = page.entries.length < PAGE;
      from = page.next;
      setLog((log) => ({
        lines: page.entries.length === 0 ? log.lines : addEntries(log.lines, page.entries),
        read: log.read || all,
        ended: page.ended,
        error: null,
      }));
      if (page.ended) return;
      if (all) await rest(FOLLOW_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      setLog((log) => ({ ...log, error: error instanceof Error ? error : new Error(String(error)) }));
      await rest(RETRY_MS, signal);
    }
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

/** Over the whole log, on the server: few of its lines are in the document. */
export function useLogSearch(
  taskRunId: string,
  text: string,
  ended: boolean,
): UseQueryResult<LogSearch, Error> {
  return useQuery({
    queryKey: ["log search", taskRunId, text],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ search: text, limit: String(PAGE) });
      return (await readPath(`task-runs/${taskRunId}/log?${query.toString()}`, signal)) as LogSearch;
    },
    enabled: text !== "",
    refetchInterval: ended ? false : 5_000,
    retry: false,
  });
}
