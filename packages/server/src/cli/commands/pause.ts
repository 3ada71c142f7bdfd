/** `pause` and `resume` of a queue, a resource or a run. */

import type { Pausable } from "@signalbox/contract";
import { quoted } from "../../render/task-name.ts";
import { findRunId } from "../find-run.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions, ChangeOptions } from "../shared-options.ts";
import { whoAsks } from "../who-asks.ts";

export type PauseOptions = AskOptions & ChangeOptions;
export type Over = "queue" | "resource" | "run";

interface Target {
  readonly over: Over;
  readonly name: string;
}

export async function pause(target: Target, options: PauseOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const what = await whatOf(client, target);
  if (options.dryRun === true) return output.data(`Would pause ${called(what)}.`);
  const { changed } = await client.pause(what, whoAsks(options));
  const line = changed
    ? `Nothing of ${called(what)} starts any more; what runs goes on.`
    : `${capital(called(what))} was paused before.`;
  printOne({ what, changed }, { name: target.name, lines: () => [line] }, { options, output });
}

export async function resume(target: Target, options: PauseOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const what = await whatOf(client, target);
  if (options.dryRun === true) return output.data(`Would resume ${called(what)}.`);
  const { changed } = await client.resume(what, whoAsks(options));
  const line = `${capital(called(what))} ${changed ? "may start again" : "was not paused"}.`;
  printOne({ what, changed }, { name: target.name, lines: () => [line] }, { options, output });
}

async function whatOf(
  client: Awaited<ReturnType<typeof findServer>>,
  { over, name }: Target,
): Promise<Pausable> {
  switch (over) {
    case "queue":
      return { queue: name };
    case "resource":
      return { resource: name };
    case "run":
      return { runId: await findRunId(client, name) };
  }
}

function called(what: Pausable): string {
  if ("queue" in what) return `queue ${quoted(what.queue)}`;
  return "resource" in what ? `resource ${quoted(what.resource)}` : `run ${what.runId}`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
