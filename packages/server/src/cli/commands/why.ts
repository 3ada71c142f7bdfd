import type { Client, Explanation } from "@signalbox/contract";
import { ProblemError } from "@signalbox/contract";
import { explanationLines } from "../../render/explanation-lines.ts";
import { safeText } from "../../render/task-name.ts";
import { waitingLines } from "../../render/waiting-lines.ts";
import type { ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import { topicOf } from "../follow-news.ts";
import { taskRunIdOf } from "../id-argument.ts";
import type { Output } from "../output.ts";
import { isTable, printList, printOne } from "../print.ts";
import type { AskOptions, WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";
import { watchTask } from "../watch-task.ts";

export interface WhyOptions extends AskOptions, WatchOptions {
  readonly limit: number;
}

const ASKED_AT_ONCE = 5;

export async function why(
  id: string | undefined,
  options: WhyOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const given = id === undefined ? null : taskRunIdOf(id);
  const client = await findServer(options);
  if (given !== null) return await whyOne(client, given, { options, output });
  if (options.watch === true) return await watchAll(client, options, output);
  await whyAll(client, options, output);
  return undefined;
}

async function whyOne(
  client: Client,
  id: string,
  { options, output }: { readonly options: WhyOptions; readonly output: Output },
): Promise<ExitCode | undefined> {
  const explanation = await client.explain(id);
  if (options.watch === true) return await watchTask(client, explanation.taskId, { options, output });
  printOne(
    explanation,
    { name: explanation.taskId, lines: () => explanationLines(explanation, output.look) },
    { options, output },
  );
  return undefined;
}

async function whyAll(client: Client, options: WhyOptions, output: Output): Promise<void> {
  const { explanations, more } = await longestWaiting(client, options.limit);
  if (!isTable(options)) {
    return printList(
      { rows: explanations, columns: [], nameOf: ({ taskId }) => taskId, empty: "" },
      options,
      output,
    );
  }
  const lines = waitingLines(explanations, output.look);
  for (const line of lines) output.data(line);
  if (lines.length === 0) output.data("Nothing is waiting.");
  if (more) output.note("Others are waiting too (--limit).");
  else if (lines.length > 0) output.note("Every gate of one of them: signalbox why <id>");
}

async function watchAll(client: Client, options: WhyOptions, output: Output): Promise<ExitCode> {
  return await watch<readonly Explanation[]>(
    {
      read: async () => (await longestWaiting(client, options.limit)).explanations,
      lines: (explanations) => {
        const lines = waitingLines(explanations, output.look);
        return lines.length === 0 ? ["Nothing is waiting."] : lines;
      },
      facts: (explanations) =>
        new Map(
          explanations.map(({ taskId, title, blockedOn }) => [
            taskId,
            `${taskId}  ${safeText(title)}  ${blockedOn ?? "NOT_EVALUATED"}`,
          ]),
        ),
      news: {
        client,
        topics: [topicOf("task-runs", { status: "PENDING", order: "oldest", limit: options.limit })],
      },
      again: "signalbox why --watch",
    },
    watchWish(options, output),
  );
}

/** The longest waiting first: they are what people come for. `more`: others wait too. */
async function longestWaiting(
  client: Client,
  limit: number,
): Promise<{ readonly explanations: readonly Explanation[]; readonly more: boolean }> {
  const { taskRuns, next } = await client.listTaskRuns({ status: ["PENDING"], order: "oldest", limit });
  const ids = taskRuns.map(({ taskRunId }) => taskRunId);
  return { explanations: await explainAll(client, ids), more: next !== null };
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
