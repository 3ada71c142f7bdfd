import { type Client, ProblemError } from "@signalbox/contract";
import { UsageError } from "../usage-error.ts";
import { idAbove, isFullId, operationIdOf } from "./id-argument.ts";

/** The whole id of an operation from its beginning. Ids rise with time, so those that begin alike stand together. */
export async function findOperationId(client: Client, given: string): Promise<string> {
  const id = operationIdOf(given);
  if (isFullId(id)) return id;
  const { operations } = await client.listOperations({ before: idAbove(id), limit: 2 });
  const digits = id.replaceAll("-", "");
  const [first, second] = operations
    .map(({ operationId }) => operationId)
    .filter((operationId) => operationId.replaceAll("-", "").startsWith(digits));
  if (first === undefined) {
    const detail = `No operation has an id that begins with ${id}`;
    const problem = {
      type: "about:blank" as const,
      title: "Not Found",
      status: 404,
      code: "OPERATION_NOT_FOUND",
      detail,
    };
    throw new ProblemError(problem);
  }
  if (second === undefined) return first;
  throw new UsageError(
    `More than one operation begins with ${id} (${first}, ${second}); give more of the id`,
  );
}
