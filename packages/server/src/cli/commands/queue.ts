import type { Client, QueueList, QueueView } from "@signalbox/contract";
import { queueColumns, queueLines } from "../../render/queue-lines.ts";
import { quoted } from "../../render/task-name.ts";
import { UsageError } from "../../usage-error.ts";
import type { ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { isTable, listLines, printList, printOne } from "../print.ts";
import type { AskOptions, ListOptions, WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";

export interface QueueListOptions extends AskOptions, ListOptions, WatchOptions {
  readonly limit: number;
}

export interface QueueSetOptions extends AskOptions {
  /** 0: unlimited. */
  readonly limit?: number;
  readonly weight?: number;
  readonly dryRun?: true;
}

export async function queueList(options: QueueListOptions, output: Output): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  if (options.watch === true) return await watchQueues(client, options, output);
  const list = await client.listQueues();
  printList(listingOf(list, options, output), options, output);
  if ((list.cut || list.queues.length > options.limit) && isTable(options)) output.note("There are more.");
  return undefined;
}

function listingOf({ queues, computedAt }: QueueList, { limit }: QueueListOptions, { look }: Output) {
  return {
    rows: queues.slice(0, limit),
    columns: queueColumns({ now: computedAt, look }),
    nameOf: ({ queue }: QueueView) => queue,
    empty: "No queue has rules or open work.",
  };
}

async function watchQueues(client: Client, options: QueueListOptions, output: Output): Promise<ExitCode> {
  return await watch<QueueList>(
    {
      read: async () => await client.listQueues(),
      lines: (list) => listLines(listingOf(list, options, output), options),
      facts: ({ queues }) =>
        new Map(
          queues.map(({ queue, waiting, available, running, paused }) => [
            queue,
            `${quoted(queue)}  ${waiting.count} waiting, ${available.count} available, ${running.count} running${paused === null ? "" : ", paused"}`,
          ]),
        ),
      jsonFacts: ({ queues }) => new Map(queues.map((queue) => [queue.queue, JSON.stringify(queue)])),
      again: "signalbox queue list --watch",
    },
    watchWish(options, output),
  );
}

export async function queueShow(name: string, options: AskOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const { queues, computedAt } = await client.listQueues();
  // Any name is a queue: one that nobody has used has no rules and no work.
  const queue = queues.find((each) => each.queue === name) ?? unused(name);
  const lines = (): readonly string[] => queueLines(queue, { now: computedAt, look: output.look });
  printOne(queue, { name, lines }, { options, output });
}

function unused(queue: string): QueueView {
  const none = { count: 0, atLeast: false };
  return {
    queue,
    limit: 0,
    weight: 1,
    paused: null,
    windows: [],
    now: { kind: "open", until: null },
    waiting: none,
    available: none,
    running: none,
  };
}

export async function queueSet(name: string, options: QueueSetOptions, output: Output): Promise<void> {
  const { limit, weight } = options;
  if (limit === undefined && weight === undefined) throw new UsageError("Give --limit, --weight or both");
  const change = { ...(limit === undefined ? {} : { limit }), ...(weight === undefined ? {} : { weight }) };
  const said = [
    ...(limit === undefined ? [] : [limit === 0 ? "no limit" : `the limit ${limit}`]),
    ...(weight === undefined ? [] : [`the weight ${weight}`]),
  ].join(" and ");
  if (options.dryRun === true) return output.data(`Queue ${quoted(name)} would have ${said}.`);
  const client = await findServer(options);
  await client.setQueue(name, change);
  const lines = (): readonly string[] => [`Queue ${quoted(name)} has ${said} now.`];
  printOne({ queue: name, ...change }, { name, lines }, { options, output });
}
