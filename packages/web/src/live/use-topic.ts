import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";
import { ApiError } from "../api/request.ts";
import type { LiveData } from "./live-data.ts";
import { topicKey } from "./topic-cache.ts";

export const LiveDataContext = createContext<LiveData | null>(null);

export function useLiveData(): LiveData {
  const live = useContext(LiveDataContext);
  if (live === null) throw new Error("No live data around this component");
  return live;
}

/** The answer of a GET route, kept up to date while the component is there. Null: nothing is asked for. */
export function useTopic<Body>(topic: string | null): UseQueryResult<Body, Error> {
  const live = useLiveData();
  useEffect(() => (topic === null ? undefined : live.follow(topic)), [live, topic]);
  return useQuery<Body>({
    queryKey: topicKey(topic ?? ""),
    queryFn: async ({ signal }) => (await live.read(topic ?? "", signal)) as Body,
    enabled: topic !== null,
    staleTime: 2_000,
    retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.problem !== null),
    refetchOnWindowFocus: false,
  });
}

/** After a change by hand: all that is on the screen, at once. */
export function useRefresh(): () => Promise<void> {
  const queries: QueryClient = useQueryClient();
  return async () => await queries.invalidateQueries({ queryKey: ["topic"] });
}
