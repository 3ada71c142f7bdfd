import { type Client, ProblemError } from "@signalbox/contract";
import { UsageError } from "../usage-error.ts";
import { idAbove, isFullId, runIdOf } from "./id-argument.ts";

/** The whole id of a run from its beginning. Ids rise with time, so those that begin alike stand together. */
export async function findRunId(client: Client, given: string): Promise<string> {
  const id = runIdOf(given);
  if (isFullId(id)) return id;
  const { runs } = await client.listRuns({ before: idAbove(id), limit: 2 });
  const digits = id.replaceAll("-", "");
  const [first, second] = runs.filter(({ runId }) => runId.replaceAll("-", "").startsWith(digits));
  if (first === undefined) {
    const detail = `No run has an id that begins with ${id}`;
    throw new ProblemError({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      code: "RUN_NOT_FOUND",
      detail,
    });
  }
  if (second === undefined) return first.runId;
  throw new UsageError(
    `More than one run begins with ${id} (${first.runId}, ${second.runId}); give more of the id`,
  );
}
