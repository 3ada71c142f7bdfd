/** `cancel` and `retry` by a filter: an operation, which is watched to its end. */

import type { Client, Operation, OperationFilter, OperationPreview } from "@signalbox/contract";
import { TASK_RUN_STATUSES, type TaskRunStatus } from "@signalbox/core/domain";
import { countText, previewLines } from "../../render/operation-lines.ts";
import { UsageError } from "../../usage-error.ts";
import { confirm } from "../confirm.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findRunId } from "../find-run.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions, ChangeOptions, WatchOptions } from "../shared-options.ts";
import { whoAsks } from "../who-asks.ts";
import { watchOperation } from "./operation.ts";

export interface FilterOptions {
  readonly status?: readonly string[];
  readonly kind?: string;
  readonly queue?: string;
  readonly tag?: string;
  readonly run?: string;
  readonly since?: Date;
}

export interface BulkOptions extends AskOptions, ChangeOptions, WatchOptions, FilterOptions {
  readonly detach?: true;
}

export const WHICH =
  "Give the id of a task or task run, or --run with the id of a run; or a filter, such as --status failed";

/** A run alone is an old friend with an answer of its own. */
export function isBulk({ status, kind, queue, tag, since }: FilterOptions): boolean {
  return [status, kind, queue, tag, since].some((condition) => condition !== undefined);
}

/** More than anybody looks through: where nobody can be asked, it wants `--yes`. */
const MANY = 50;

export async function doMany(
  verb: OperationPreview["verb"],
  options: BulkOptions,
  output: Output,
): Promise<ExitCode> {
  const client = await findServer(options);
  const filter = await filterOf(client, options);
  const preview = await client.previewOperation({ verb, filter });
  const { eligible } = preview;
  const isNone = eligible.count === 0 && !eligible.atLeast;
  if (isNone) output.note(`There is nothing to ${verb}.`);
  if (options.dryRun === true || (isNone && options.json !== undefined)) {
    printOne(preview, { name: "", lines: () => previewLines(preview) }, { options, output });
    return EXIT.ok;
  }
  if (isNone) return EXIT.ok;
  const text = `${verb === "cancel" ? "Cancel" : "Retry"} ${countText(eligible)} task runs?`;
  if (!(await confirm({ text, grave: eligible.atLeast || eligible.count > MANY }, options))) {
    output.note("Nothing was done.");
    return EXIT.refused;
  }
  const operation = await client.startOperation({ verb, filter, ...whoAsks(options) });
  return await follow(client, operation, options, output);
}

/** To its end, unless it was asked to go on by itself. */
async function follow(
  client: Client,
  operation: Operation,
  options: BulkOptions,
  output: Output,
): Promise<ExitCode> {
  const { operationId } = operation;
  if (options.detach !== true) return await watchOperation(client, operationId, { options, output });
  const line = `Operation ${operationId} goes on by itself.`;
  printOne(operation, { name: operationId, lines: () => [line] }, { options, output });
  return EXIT.ok;
}

async function filterOf(client: Client, options: FilterOptions): Promise<OperationFilter> {
  const { status, kind, queue, tag, run, since } = options;
  return {
    ...(status === undefined ? {} : { status: status.map(statusOf) }),
    ...(kind === undefined ? {} : { kind }),
    ...(queue === undefined ? {} : { queue }),
    ...(tag === undefined ? {} : { tag }),
    ...(run === undefined ? {} : { runId: await findRunId(client, run) }),
    ...(since === undefined ? {} : { enqueuedSince: since.toISOString() }),
  };
}

function statusOf(given: string): TaskRunStatus {
  const status = TASK_RUN_STATUSES.find((each) => each === given.toUpperCase());
  if (status !== undefined) return status;
  throw new UsageError(`"${given}" is not a status; there are ${TASK_RUN_STATUSES.join(", ").toLowerCase()}`);
}
