/** The newest page follows the stream, and so do the next ones; what lies deeper is read when it is reached. */

import type { TaskRun, TaskRunPage } from "@signalbox/contract";
import { type UseQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { useLiveData, useTopic } from "../../live/use-topic.ts";
import { type TaskRunSearch, topicOf } from "./task-run-search.ts";

export interface TaskRunPages {
  readonly first: UseQueryResult<TaskRunPage, Error>;
  readonly rows: readonly TaskRun[];
  readonly more: boolean;
  readonly error: Error | null;
  readonly showMore: () => void;
}

export function useTaskRunPages(search: TaskRunSearch): TaskRunPages {
  const live = useLiveData();
  const first = useTopic<TaskRunPage>(topicOf(search, null));
  // Where the second page begins is fixed when it is asked for: the first one moves on.
  const [from, setFrom] = useState<string | null>(null);
  const older = useInfiniteQuery({
    queryKey: ["older", topicOf(search, from)],
    queryFn: async ({ pageParam, signal }) =>
      (await live.read(topicOf(search, pageParam), signal)) as TaskRunPage,
    initialPageParam: from ?? "",
    getNextPageParam: (page: TaskRunPage) => page.next,
    enabled: from !== null,
    refetchInterval: 15_000,
    refetchOnWindowFocus: false,
  });
  const next = first.data?.next ?? null;
  const { hasNextPage, isFetching, fetchNextPage } = older;
  const showMore = useCallback(() => {
    if (from === null) setFrom(next);
    else if (hasNextPage && !isFetching) void fetchNextPage();
  }, [from, next, hasNextPage, isFetching, fetchNextPage]);
  const rows = useMemo(
    () => distinct([first.data, ...(older.data?.pages ?? [])].flatMap((page) => page?.taskRuns ?? [])),
    [first.data, older.data],
  );
  return {
    first,
    rows,
    more: from === null ? next !== null : hasNextPage,
    error: first.error ?? older.error,
    showMore,
  };
}

function distinct(rows: readonly TaskRun[]): readonly TaskRun[] {
  const seen = new Set<string>();
  return rows.filter(({ taskRunId }) => !seen.has(taskRunId) && seen.add(taskRunId));
}
