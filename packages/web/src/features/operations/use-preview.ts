import type { OperationFilter, OperationPreview } from "@signalbox/contract";
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { change } from "../../api/request.ts";
import type { OperationVerb } from "./operation-request.ts";

/** What an operation would do now. Null: nothing is asked for. */
export function usePreview(
  verb: OperationVerb,
  filter: OperationFilter | null,
): UseQueryResult<OperationPreview, Error> {
  return useQuery({
    queryKey: ["preview", verb, filter],
    queryFn: async () => (await change("POST", "operations/preview", { verb, filter })) as OperationPreview,
    enabled: filter !== null,
    staleTime: 2_000,
    // While one more row is chosen, the buttons keep their words.
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    retry: false,
  });
}
