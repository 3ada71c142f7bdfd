import type { Client } from "@signalbox/contract";
import { findServer } from "../find-server.ts";
import type { Candidate, Named } from "./candidates.ts";

/** Who waits for a completion waits at most this long. */
const PATIENCE_MS = 300;
const OFFERED = 50;

/** Names that a server knows. Silent when there is none, or none that answers in time. */
export async function knownNames(named: Named, typed: string): Promise<readonly Candidate[]> {
  const late = new Promise<readonly Candidate[]>((resolve) => {
    setTimeout(() => resolve([]), PATIENCE_MS).unref();
  });
  const asked = findServer({ timeout: PATIENCE_MS })
    .then(async (client) => await READ[named](client, typed))
    .catch((): readonly Candidate[] => []);
  const names = await Promise.race([asked, late]);
  return names.filter(({ value }) => value.startsWith(typed));
}

const READ: Readonly<Record<Named, (client: Client, typed: string) => Promise<readonly Candidate[]>>> = {
  task: async (client) =>
    (await client.listTaskRuns({ limit: OFFERED })).taskRuns.map(({ taskRunId, title, status }) => ({
      value: taskRunId,
      about: `${title} (${status.toLowerCase()})`,
    })),
  run: async (client) =>
    (await client.listRuns({ limit: OFFERED })).runs.map(({ runId, title, status }) => ({
      value: runId,
      about: `${title} (${status.toLowerCase()})`,
    })),
  operation: async (client) =>
    (await client.listOperations({ limit: OFFERED })).operations.map(({ operationId, verb, status }) => ({
      value: operationId,
      about: `${verb} (${status.toLowerCase()})`,
    })),
  queue: async (client) =>
    (await client.listQueues()).queues.map(({ queue, waiting }) => ({
      value: queue,
      about: `${waiting.count} waiting`,
    })),
  resource: async (client, typed) =>
    (
      await client.listResources({ limit: OFFERED, ...(typed === "" ? {} : { search: typed }) })
    ).resources.map(({ resource, inLine }) => ({ value: resource, about: `${inLine.count} in line` })),
  instance: async (client) =>
    (await client.listInstances()).instances.map(({ name, state }) => ({
      value: name,
      about: state.toLowerCase(),
    })),
};
