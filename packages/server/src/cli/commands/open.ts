import { spawn } from "node:child_process";
import { type Client, ProblemError } from "@signalbox/contract";
import { readConfig } from "../../config.ts";
import { findRunId } from "../find-run.ts";
import { findServer } from "../find-server.ts";
import { isFullId, runIdOf, taskRunIdOf } from "../id-argument.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions } from "../shared-options.ts";

export interface OpenOptions extends AskOptions {
  /** False: only print the address. */
  readonly browser: boolean;
}

export async function open(id: string | undefined, options: OpenOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const url = `${client.baseUrl}${id === undefined ? "/" : await pageOf(client, id)}`;
  printOne({ url }, { name: url, lines: () => [url] }, { options, output });
  if (options.browser && process.stdout.isTTY === true && !readConfig().ci) openInBrowser(url);
}

/** Of a task or task run, else of a run. */
async function pageOf(client: Client, id: string): Promise<string> {
  if (/^https?:.*\/runs\//i.test(id)) return `/runs/${await findRunId(client, id)}`;
  try {
    return `/task-runs/${(await client.getTaskRun(taskRunIdOf(id))).taskRunId}`;
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status !== 404) throw error;
    const runId = await findRunId(client, id).catch(() => null);
    if (runId === null || (isFullId(runIdOf(id)) && !(await isRun(client, runId)))) throw error;
    return `/runs/${runId}`;
  }
}

async function isRun(client: Client, runId: string): Promise<boolean> {
  return await client.getRun(runId).then(
    () => true,
    () => false,
  );
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Without a shell: an address may have anything in it. Nothing to open it with is no error, it was printed. */
function openInBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
