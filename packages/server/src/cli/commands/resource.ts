import type { Client, ResourcePage, ResourceView } from "@signalbox/contract";
import { resourceColumns, resourceLines } from "../../render/resource-lines.ts";
import { quoted } from "../../render/task-name.ts";
import { confirm } from "../confirm.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { isTable, listLines, printList, printOne } from "../print.ts";
import type { AskOptions, ChangeOptions, ListOptions, WatchOptions } from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";
import { whoAsks } from "../who-asks.ts";

export interface ResourceListOptions extends AskOptions, ListOptions, WatchOptions {
  readonly limit: number;
  readonly search?: string;
}

export async function resourceList(
  options: ResourceListOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  if (options.watch === true) return await watchResources(client, options, output);
  const page = await readPage(client, options);
  printList(listingOf(page, output), options, output);
  if (page.next !== null && isTable(options)) output.note(`There are more (--limit ${options.limit}).`);
  return undefined;
}

async function readPage(client: Client, { limit, search }: ResourceListOptions): Promise<ResourcePage> {
  return await client.listResources({ limit, ...(search === undefined ? {} : { search }) });
}

function listingOf({ resources, computedAt }: ResourcePage, { look }: Output) {
  return {
    rows: resources,
    columns: resourceColumns({ now: computedAt, look }),
    nameOf: ({ resource }: ResourceView) => resource,
    empty: "No resource is held, waited for or ruled.",
  };
}

async function watchResources(
  client: Client,
  options: ResourceListOptions,
  output: Output,
): Promise<ExitCode> {
  return await watch<ResourcePage>(
    {
      read: async () => await readPage(client, options),
      lines: (page) => listLines(listingOf(page, output), options),
      facts: ({ resources }) =>
        new Map(
          resources.map(({ resource, holders, holderCount, inLine, paused }) => [
            resource,
            `${quoted(resource)}  ${holderCount} hold it${holders[0] === undefined ? "" : ` (${quoted(holders[0].title)})`}, ${inLine.count} in line${paused === null ? "" : ", paused"}`,
          ]),
        ),
      jsonFacts: ({ resources }) => new Map(resources.map((each) => [each.resource, JSON.stringify(each)])),
      again: "signalbox resource list --watch",
    },
    watchWish(options, output),
  );
}

export async function resourceShow(name: string, options: AskOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const resource = await client.getResource(name);
  const lines = (): readonly string[] =>
    resourceLines(resource, { now: resource.computedAt, look: output.look });
  printOne(resource, { name, lines }, { options, output });
}

/** Grave: if the lost attempt is still at work, two work at once. */
export async function resourceRelease(
  name: string,
  options: AskOptions & ChangeOptions,
  output: Output,
): Promise<ExitCode> {
  const client = await findServer(options);
  const { reservedFor } = await client.getResource(name);
  const keptFor = reservedFor === null ? "nobody" : `task ${reservedFor}`;
  if (options.dryRun === true) {
    output.data(`Would release ${quoted(name)}, which is kept for ${keptFor}.`);
    return EXIT.ok;
  }
  const text = `${quoted(name)} is kept for ${keptFor}. Is nothing of its lost attempt at work any more?`;
  if (reservedFor !== null && !(await confirm({ text, grave: true }, options))) {
    output.note("Nothing was done.");
    return EXIT.refused;
  }
  const { changed } = await client.releaseReservation(name, whoAsks(options));
  const line = changed ? `${quoted(name)} is free for others.` : `${quoted(name)} was kept for nobody.`;
  printOne({ resource: name, changed }, { name, lines: () => [line] }, { options, output });
  return EXIT.ok;
}
