/** `cluster status`, `instances`, `show` and `drain`. */

import type { Client, InstanceList, InstanceView } from "@signalbox/contract";
import { ProblemError } from "@signalbox/contract";
import { instanceColumns, instanceLines, plainStateText } from "../../render/instance-lines.ts";
import { quoted, safeText } from "../../render/task-name.ts";
import { UsageError } from "../../usage-error.ts";
import type { ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { listLines, printList, printOne } from "../print.ts";
import type { AskOptions, ChangeOptions, ListOptions, WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";
import { whoAsks } from "../who-asks.ts";

export interface InstancesOptions extends AskOptions, ListOptions, WatchOptions {
  readonly limit: number;
}

export async function clusterInstances(
  options: InstancesOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  if (options.watch === true) return await watchInstances(client, options, output);
  printList(listingOf(await client.listInstances(), options, output), options, output);
  return undefined;
}

function listingOf({ instances, computedAt }: InstanceList, { limit }: InstancesOptions, { look }: Output) {
  return {
    rows: instances.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, limit),
    columns: instanceColumns({ now: computedAt, look }),
    nameOf: ({ instanceId }: InstanceView) => instanceId,
    empty: "No instance is live: nothing is promoted or run.",
  };
}

async function watchInstances(client: Client, options: InstancesOptions, output: Output): Promise<ExitCode> {
  return await watch<InstanceList>(
    {
      read: async () => await client.listInstances(),
      lines: (list) => listLines(listingOf(list, options, output), options),
      facts: ({ instances }) =>
        new Map(
          instances.map((instance) => [
            instance.instanceId,
            `${safeText(instance.name)}  ${plainStateText(instance)}  ${instance.running}/${instance.slots}`,
          ]),
        ),
      again: "signalbox cluster instances --watch",
    },
    watchWish(options, output),
  );
}

/** In a word whether the cluster does its work, then its instances. */
export async function clusterStatus(
  options: InstancesOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  if (options.watch === true) return await watchInstances(client, options, output);
  const list = await client.listInstances();
  const live = list.instances.filter(({ state }) => state === "LIVE");
  const slots = live.reduce((sum, each) => sum + each.slots, 0);
  const running = live.reduce((sum, each) => sum + each.running, 0);
  const listing = listingOf(list, options, output);
  const head =
    live.length === 0
      ? "No instance is live: nothing is promoted or run."
      : `${live.length} live, ${running} of ${slots} slots used`;
  const lines = (): readonly string[] => [head, ...listLines(listing, options)];
  printOne(list, { name: client.baseUrl, lines }, { options, output });
  return undefined;
}

export async function clusterShow(given: string, options: AskOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const { instances } = await client.listInstances();
  const instance = await client.getInstance(instanceCalled(given, instances).instanceId);
  const lines = (): readonly string[] => instanceLines(instance, output.look);
  printOne(instance, { name: instance.instanceId, lines }, { options, output });
}

export async function clusterDrain(
  given: string,
  options: AskOptions & ChangeOptions & { readonly undo?: true },
  output: Output,
): Promise<void> {
  const client = await findServer(options);
  const { instances } = await client.listInstances();
  const { instanceId, name } = instanceCalled(given, instances);
  const undo = options.undo === true;
  if (options.dryRun === true) {
    return output.data(`Would ${undo ? "call back" : "drain"} ${safeText(name)}.  ${instanceId}`);
  }
  const { changed } = undo
    ? await client.callInstanceBack(instanceId)
    : await client.drainInstance(instanceId, whoAsks(options));
  const lines = (): readonly string[] => [`${safeText(name)} ${drainedText(undo, changed)}.  ${instanceId}`];
  printOne({ instanceId, changed }, { name: instanceId, lines }, { options, output });
}

function drainedText(undo: boolean, changed: boolean): string {
  if (undo) return changed ? "is not asked to drain any more" : "was not asked to drain";
  return changed ? "claims nothing more; what it runs goes on" : "was asked to drain before";
}

/** By its name, or the beginning of its id; of several with one name the one that lives. */
function instanceCalled(given: string, instances: readonly InstanceView[]): InstanceView {
  const called = instances.filter(
    ({ name, instanceId }) =>
      name === given || (given.length >= 4 && instanceId.startsWith(given.toLowerCase())),
  );
  const living = called.filter(({ state }) => state !== "DEAD");
  const [first, second] = living.length > 0 ? living : called;
  if (first !== undefined && second === undefined) return first;
  if (first === undefined) {
    const known = instances.map(({ name }) => name).join(", ");
    const detail = `No instance is called ${quoted(given)} (known: ${known || "none"})`;
    throw new ProblemError({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      code: "INSTANCE_NOT_FOUND",
      detail,
    });
  }
  const ids = called.map(({ instanceId }) => instanceId).join(", ");
  throw new UsageError(`More than one instance is called ${quoted(given)}; give its id (${ids})`);
}
