import type { Client, Explanation } from "@signalbox/contract";
import { ProblemError } from "@signalbox/contract";
import { explanationLines } from "../../render/explanation-lines.ts";
import { waitingLines } from "../../render/waiting-lines.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";

export interface WhyOptions {
  readonly server?: string;
  readonly json?: true;
  readonly limit: number;
}

const ASKED_AT_ONCE = 5;
const LISTED_AT_MOST = 500;

export async function why(id: string | undefined, options: WhyOptions, output: Output): Promise<void> {
  const client = await findServer(options.server);
  return id === undefined ? whyAll(client, options, output) : whyOne(client, id, { options, output });
}

async function whyOne(
  client: Client,
  id: string,
  { options, output }: { readonly options: WhyOptions; readonly output: Output },
): Promise<void> {
  const explanation = await client.explain(id);
  if (options.json) return output.data(JSON.stringify(explanation));
  for (const line of explanationLines(explanation, output.look)) output.data(line);
}

async function whyAll(client: Client, { json, limit }: WhyOptions, output: Output): Promise<void> {
  const { taskRuns, next } = await client.listTaskRuns({ status: ["PENDING"], limit: LISTED_AT_MOST });
  // The longest waiting first: they are what people come for.
  const longest = taskRuns.toReversed().slice(0, limit);
  const explanations = await explainAll(
    client,
    longest.map(({ taskRunId }) => taskRunId),
  );
  if (json) return output.data(JSON.stringify(explanations));
  const lines = waitingLines(explanations, output.look);
  for (const line of lines) output.data(line);
  if (lines.length === 0) output.data("Nothing is waiting.");
  const more = taskRuns.length - longest.length;
  if (more > 0) output.note(`${more}${next === null ? "" : " or more"} others are waiting (--limit).`);
  else if (lines.length > 0) output.note("Every gate of one of them: signalbox why <id>");
}

async function explainAll(client: Client, ids: readonly string[]): Promise<readonly Explanation[]> {
  const explanations: Explanation[] = [];
  for (let first = 0; first < ids.length; first += ASKED_AT_ONCE) {
    const some = await Promise.all(
      ids.slice(first, first + ASKED_AT_ONCE).map((id) => explainIfThere(client, id)),
    );
    explanations.push(...some.filter((explanation) => explanation !== null));
  }
  return explanations;
}

async function explainIfThere(client: Client, id: string): Promise<Explanation | null> {
  try {
    return await client.explain(id);
  } catch (error) {
    // Pruned between the list and the question.
    if (error instanceof ProblemError && error.problem.status === 404) return null;
    throw error;
  }
}
