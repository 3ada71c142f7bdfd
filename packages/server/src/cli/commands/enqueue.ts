import type { Client } from "@signalbox/contract";
import { statusText } from "../../render/status-look.ts";
import { quoted, safeText } from "../../render/task-name.ts";
import { type EnqueueArguments, taskSpecOf } from "../enqueue-arguments.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";

export interface EnqueueOptions extends EnqueueArguments {
  readonly server?: string;
  readonly json?: true;
  readonly idempotencyKey?: string;
}

export async function enqueue(kind: string, options: EnqueueOptions, output: Output): Promise<void> {
  const spec = taskSpecOf(kind, options, new Date());
  const client = await findServer(options.server);
  const { idempotencyKey } = options;
  const created = await client.createTask(spec, idempotencyKey === undefined ? {} : { idempotencyKey });
  if (options.json) return output.data(JSON.stringify(created));
  const { status, taskRunId } = created;
  output.data(`${statusText(status, output.look)}  ${taskRunId}  ${safeText(spec.title ?? spec.kind)}`);
  await warnIfNobodyRuns(client, kind, output);
}

/** It stays in the line until somebody can run it; better to hear so now. */
async function warnIfNobodyRuns(client: Client, kind: string, output: Output): Promise<void> {
  const { instances } = await client.overview();
  const kinds = new Set(
    instances.filter(({ state }) => state === "LIVE").flatMap((instance) => instance.kinds),
  );
  if (kinds.has(kind)) return;
  const offered = kinds.size === 0 ? "nothing" : [...kinds].toSorted().join(", ");
  output.note(`No live instance can run ${quoted(kind)} (offered: ${offered}).`);
}
