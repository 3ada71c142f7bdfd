/**
 * The newest page follows the stream. What lies behind it is read when it is reached, and again from time to time, from where the
 * first page ends by then; what has fallen off the first page meanwhile stays in the list.
 */

import type { TaskRun, TaskRunPage } from "@signalbox/contract";
import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLiveData, useTopic } from "../../live/use-topic.ts";
import { type Fallen, fallBehind, hasHole, joinPages, NOTHING_FALLEN, type Older } from "./join-pages.ts";
import { type TaskRunSearch, topicOf } from "./task-run-search.ts";

export interface TaskRunPages {
  readonly first: UseQueryResult<TaskRunPage, Error>;
  readonly rows: readonly TaskRun[];
  readonly more: boolean;
  readonly error: Error | null;
  readonly showMore: () => void;
}

/** From where the older pages are read, how many, and the how-manieth time. */
interface Place {
  readonly from: string;
  readonly depth: number;
  readonly round: number;
}

interface OlderPages extends Older<TaskRun> {
  readonly next: string | null;
}

const NO_PAGE: TaskRunPage = { taskRuns: [], next: null };
const AGAIN_MS = 15_000;
const HOLE_MS = 500;

export function useTaskRunPages(search: TaskRunSearch): TaskRunPages {
  const first = useTopic<TaskRunPage>(topicOf(search, null));
  const [place, setPlace] = useState<Place | null>(null);
  const { data: older, isFetching, error } = useOlder(search, place);
  const page = first.data ?? NO_PAGE;
  const fallen = useFallen(page, older?.from ?? place?.from);
  const { next } = page;
  // Not while they are being read: a list on which much comes would be read from its beginning for ever.
  const ms = hasHole(fallen, place?.from) ? HOLE_MS : AGAIN_MS;
  useAgain({ ms, since: place, waits: isFetching }, () => {
    setPlace((now) => now && { ...now, from: next ?? now.from, round: now.round + 1 });
  });
  const showMore = useCallback(() => {
    if (isFetching) return;
    setPlace((now) => {
      if (now === null) return next === null ? null : { from: next, depth: 1, round: 0 };
      return { ...now, depth: now.depth + 1 };
    });
  }, [isFetching, next]);
  const rows = useMemo(() => joinPages(page, fallen, older), [page, fallen, older]);
  return {
    first,
    rows,
    more: next !== null && older?.next !== null,
    error: first.error ?? error,
    showMore,
  };
}

interface Again {
  readonly ms: number;
  readonly since: unknown;
  readonly waits: boolean;
}

/** Acts so long after something has changed, or after what it waits for, by what is known then. */
function useAgain({ ms, since, waits }: Again, act: () => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    if (waits) return;
    const timer = setTimeout(() => latest.current(), ms);
    return () => clearTimeout(timer);
  }, [ms, since, waits]);
}

/** What has fallen off the first page since the older ones were read. */
function useFallen(page: TaskRunPage, from: string | undefined): Fallen<TaskRun> {
  const [seen, setSeen] = useState({ page, fallen: NOTHING_FALLEN as Fallen<TaskRun> });
  if (page === seen.page) return seen.fallen;
  const fallen = from === undefined ? NOTHING_FALLEN : fallBehind(seen.fallen, seen.page, page, from);
  setSeen({ page, fallen });
  return fallen;
}

function useOlder(search: TaskRunSearch, place: Place | null): UseQueryResult<OlderPages, Error> {
  const live = useLiveData();
  const queries = useQueryClient();
  const keyOf = ({ from, depth, round }: Place) => ["older", topicOf(search, from), round, depth] as const;
  return useQuery({
    queryKey: place === null ? ["older"] : keyOf(place),
    queryFn: async ({ signal }) => {
      const { from, depth, round } = place ?? { from: "", depth: 0, round: 0 };
      // One page more of the same round: what is there already need not be read again.
      const known = queries.getQueryData<OlderPages>(keyOf({ from, depth: depth - 1, round }));
      let rows = known?.rows ?? [];
      let next: string | null = known === undefined ? from : known.next;
      for (let page = known === undefined ? 0 : depth - 1; page < depth && next !== null; page += 1) {
        const read = (await live.read(topicOf(search, next), signal)) as TaskRunPage;
        rows = [...rows, ...read.taskRuns];
        next = read.next;
      }
      return { from, rows, next };
    },
    enabled: place !== null,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: AGAIN_MS,
    refetchOnWindowFocus: false,
  });
}
