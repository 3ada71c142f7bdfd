import type { DeferRequest } from "@signalbox/contract";
import { statusWord } from "../../render/status-look.ts";
import { quoted } from "../../render/task-name.ts";
import { clockText } from "../../render/time.ts";
import { UsageError } from "../../usage-error.ts";
import { findServer } from "../find-server.ts";
import { taskRunIdOf } from "../id-argument.ts";
import { parseInstant, parseLength } from "../length-argument.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions, ChangeOptions } from "../shared-options.ts";
import { whoAsks } from "../who-asks.ts";

export interface DeferOptions extends AskOptions, ChangeOptions {
  readonly until: string;
}

export async function taskDefer(id: string, options: DeferOptions, output: Output): Promise<void> {
  const given = taskRunIdOf(id);
  const time = timeOf(options.until);
  const client = await findServer(options);
  const { taskRunId, title, status } = await client.getTaskRun(given);
  if (options.dryRun === true) {
    output.data(`Would defer ${quoted(title)}, which is ${statusWord(status)}.  ${taskRunId}`);
    return;
  }
  const deferred = await client.defer(taskRunId, { ...time, ...whoAsks(options) });
  const at = clockText(deferred.runAt, new Date().toISOString(), output.look);
  const line = `${quoted(title)} waits until ${at}.  ${taskRunId}`;
  printOne(deferred, { name: taskRunId, lines: () => [line] }, { options, output });
}

/** A length is counted by the clock of the database, wherever this is typed. */
function timeOf(text: string): Pick<DeferRequest, "runAt" | "delayMs"> {
  const delayMs = text.startsWith("+") ? parseLength(text.slice(1)) : null;
  if (delayMs !== null) return { delayMs };
  const at = parseInstant(text);
  if (at !== null) return { runAt: at.toISOString() };
  throw new UsageError(
    `--until is "${text}"; give an instant such as 2026-11-16T12:00:00Z, or +30s, +5m, +2h, +1d`,
  );
}
