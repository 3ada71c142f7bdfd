import type { Client, Overview, TaskRun, TaskRunQuery } from "@signalbox/contract";
import { plainStateText } from "../../render/instance-lines.ts";
import { boundedText, overviewLines, pendingText } from "../../render/overview-lines.ts";
import { safeText } from "../../render/task-name.ts";
import type { ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import { topicOf } from "../follow-news.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions, WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";

export type StatusOptions = AskOptions & WatchOptions;

interface Standing {
  readonly overview: Overview;
  readonly running: readonly TaskRun[];
}

const RUNNING: TaskRunQuery = { status: ["RUNNING"], limit: 20 };

export async function status(options: StatusOptions, output: Output): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  if (options.watch === true) return await watchStatus(client, options, output);
  const { overview, running } = await readStanding(client);
  printOne(
    overview,
    { name: client.baseUrl, lines: () => overviewLines(overview, running, output.look) },
    { options, output },
  );
  return undefined;
}

async function readStanding(client: Client): Promise<Standing> {
  const [overview, running] = await Promise.all([client.overview(), client.listTaskRuns(RUNNING)]);
  return { overview, running: running.taskRuns };
}

async function watchStatus(client: Client, options: StatusOptions, output: Output): Promise<ExitCode> {
  return await watch<Standing>(
    {
      read: async () => await readStanding(client),
      lines: ({ overview, running }) => overviewLines(overview, running, output.look),
      facts: ({ overview }) => standingFacts(overview),
      jsonFacts: ({ overview }) => jsonStanding(overview),
      news: { client, topics: ["overview", topicOf("task-runs", RUNNING)] },
      again: "signalbox status --watch",
    },
    watchWish(options, output),
  );
}

/** A line for the work and one for each instance. */
export function standingFacts(overview: Overview): ReadonlyMap<string, string> {
  const counts = [
    `${pendingText(overview)} pending`,
    `${boundedText(overview.available, overview)} available`,
    `${boundedText(overview.running, overview)} running`,
  ];
  return new Map([
    ["work", counts.join(", ")],
    ...overview.instances.map((instance): [string, string] => [
      instance.instanceId,
      `${safeText(instance.name)} is ${plainStateText(instance)}`,
    ]),
  ]);
}

/** Without the moment, which is another one each time. */
export function jsonStanding({
  waiting,
  available,
  running,
  instances,
}: Overview): ReadonlyMap<string, string> {
  const names = instances.map(({ name, state }) => ({ name, state }));
  return new Map([["overview", JSON.stringify({ waiting, available, running, instances: names })]]);
}
