/** `operation list`, `show`, `watch` and `abort`. */

import type { Client, Operation, OperationItem } from "@signalbox/contract";
import { OPERATION_STATUSES, type OperationStatus } from "@signalbox/core/domain";
import { operationColumns, operationLines, operationProgress } from "../../render/operation-lines.ts";
import { UsageError } from "../../usage-error.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findOperationId } from "../find-operation.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { isTable, printList, printOne } from "../print.ts";
import {
  type AskOptions,
  type ChangeOptions,
  isJson,
  type ListOptions,
  type WatchOptions,
} from "../shared-options.ts";
import { watch, watchWish } from "../watch.ts";
import { whoAsks } from "../who-asks.ts";

export interface OperationListOptions extends AskOptions, ListOptions {
  readonly limit: number;
  readonly status?: readonly string[];
}

export type OperationShowOptions = AskOptions & WatchOptions;
export type OperationAbortOptions = AskOptions & ChangeOptions;

interface Spoken<Options> {
  readonly options: Options;
  readonly output: Output;
}

export async function operationList(options: OperationListOptions, output: Output): Promise<void> {
  const { status, limit } = options;
  const wanted = status === undefined ? {} : { status: status.map(statusOf) };
  const client = await findServer(options);
  const { operations, next } = await client.listOperations({ ...wanted, limit });
  const listing = {
    rows: operations,
    columns: operationColumns({ now: new Date().toISOString(), look: output.look }),
    nameOf: ({ operationId }: Operation) => operationId,
    empty: "There is no such operation.",
  };
  printList(listing, options, output);
  if (next !== null && isTable(options)) output.note(`There are more (--limit ${limit}).`);
}

function statusOf(given: string): OperationStatus {
  const status = OPERATION_STATUSES.find((each) => each === given.toUpperCase());
  if (status !== undefined) return status;
  const known = OPERATION_STATUSES.join(", ").toLowerCase();
  throw new UsageError(`"${given}" is not a status of operations; there are ${known}`);
}

export async function operationShow(
  id: string,
  options: OperationShowOptions,
  output: Output,
): Promise<ExitCode | undefined> {
  const client = await findServer(options);
  const operationId = await findOperationId(client, id);
  if (options.watch === true) return await watchOperation(client, operationId, { options, output });
  const { operation, items } = await readStanding(client, operationId);
  const lines = (): readonly string[] => operationLines(operation, items, momentOf(output));
  printOne(operation, { name: operationId, lines }, { options, output });
  return undefined;
}

interface Standing {
  readonly operation: Operation;
  readonly items: readonly OperationItem[];
}

const SHOWN_ITEMS = 50;

async function readStanding(client: Client, operationId: string): Promise<Standing> {
  const [operation, { items }] = await Promise.all([
    client.getOperation(operationId),
    client.listOperationItems(operationId, { limit: SHOWN_ITEMS }),
  ]);
  return { operation, items };
}

function momentOf({ look }: Output) {
  return { now: new Date().toISOString(), look };
}

/** Until it is over; the exit code says how. */
export async function watchOperation(
  client: Client,
  operationId: string,
  { options, output }: Spoken<AskOptions & WatchOptions>,
): Promise<ExitCode> {
  return await watch<Standing>(
    {
      read: async () => await readStanding(client, operationId),
      lines: ({ operation, items }) => operationLines(operation, items, momentOf(output)),
      facts: ({ operation }) => new Map([["progress", `progress  ${operationProgress(operation)}`]]),
      endOf: ({ operation }) => endOf(operation),
      summary: ({ operation, items }) =>
        isJson(options) ? [JSON.stringify(operation)] : operationLines(operation, items, momentOf(output)),
      again: `signalbox operation watch ${operationId}`,
    },
    watchWish(options, output),
  );
}

function endOf({ status, failed }: Operation): ExitCode | null {
  switch (status) {
    case "RUNNING":
      return null;
    case "ABORTED":
      return EXIT.canceled;
    case "DONE":
      return failed === 0 ? EXIT.ok : EXIT.failed;
  }
}

export async function operationAbort(
  id: string,
  options: OperationAbortOptions,
  output: Output,
): Promise<ExitCode> {
  const client = await findServer(options);
  const operationId = await findOperationId(client, id);
  if (options.dryRun === true) {
    const operation = await client.getOperation(operationId);
    output.data(`Would abort the operation, which is ${operation.status.toLowerCase()}.  ${operationId}`);
    return EXIT.ok;
  }
  const { changed } = await client.abortOperation(operationId, whoAsks(options));
  const operation = await client.getOperation(operationId);
  const line = changed
    ? `It goes on no further; ${operationProgress(operation)}.  ${operationId}`
    : `It was over already (${operation.status.toLowerCase()}); nothing changed.  ${operationId}`;
  printOne(operation, { name: operationId, lines: () => [line] }, { options, output });
  return changed || operation.status === "ABORTED" ? EXIT.ok : EXIT.refused;
}
