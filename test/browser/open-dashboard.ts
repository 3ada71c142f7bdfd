/** A dashboard on a database of its own: real instances in this process, the API and the built pages. */

import type { ServerResponse } from "node:http";
import { type Client, createClient } from "@signalbox/contract";
import { createScheduler, type Executor, type Scheduler } from "@signalbox/core";
import { createTestDatabase } from "@signalbox/core/testing";
import { createApi } from "../../packages/server/src/http/create-api.ts";
import { addDashboard } from "../../packages/server/src/http/dashboard.ts";
import { listenOnLoopback } from "../../packages/server/src/http/listen.ts";
import { STEERED_TASKS } from "./steered-tasks.ts";

export interface OpenDashboard {
  readonly url: string;
  /** For what the API cannot do: to plant what goes wrong. */
  readonly databaseUrl: string;
  readonly client: Client;
  readonly scheduler: Scheduler;
  /** What nobody foresaw; empty at the end of a good test. */
  readonly logged: readonly unknown[];
  /** How many streams are open now. */
  readonly openStreams: () => number;
  /** Ends the streams that are open, and every new one, until it is told otherwise. */
  readonly blockStreams: (blocked: boolean) => void;
  readonly close: () => Promise<void>;
}

export interface DashboardSetup {
  /** Names of the instances. */
  readonly instances: readonly string[];
  readonly slots?: number;
  /** What the instances run. Default: tasks that go on for as long as a test wants. */
  readonly tasks?: readonly Executor[];
}

export async function openDashboard(adminUrl: string, setup: DashboardSetup): Promise<OpenDashboard> {
  const logged: unknown[] = [];
  const database = await createTestDatabase(adminUrl);
  const tasks = setup.tasks ?? STEERED_TASKS;
  // It is not used here, and a server that a test stops takes it away.
  database.client.on("error", () => {});
  const schedulers = setup.instances.map((name) =>
    createScheduler({
      name,
      databaseUrl: database.url,
      tasks,
      slots: setup.slots ?? 4,
      leaseMs: 5_000,
      beatMs: 500,
      graceMs: 500,
      pollIntervalMs: 500,
      poolSize: 5,
    }),
  );
  for (const scheduler of schedulers) await scheduler.start();
  // The API asks one that is never started, as `signalbox dev` does: it claims nothing.
  const asking = createScheduler({ name: "api", databaseUrl: database.url, tasks });
  const api = createApi({
    scheduler: asking,
    serverId: "browser-test",
    logger: { error: (entry: unknown) => logged.push(entry) },
  });
  if (!addDashboard(api)) throw new Error("The dashboard is not built: npm run build");
  const streams = watchStreams(api);
  const { url } = await listenOnLoopback(api, 28_410);
  return {
    url,
    databaseUrl: database.url,
    client: createClient(url),
    scheduler: asking,
    logged,
    ...streams,
    close: async () => {
      await api.close();
      await Promise.all([...schedulers, asking].map(async (scheduler) => await scheduler.stop()));
      await database.drop();
    },
  };
}

/** At the server: a route of the browser's driver does not see what a shared worker asks for. */
function watchStreams(
  api: ReturnType<typeof createApi>,
): Pick<OpenDashboard, "openStreams" | "blockStreams"> {
  const open = new Set<ServerResponse>();
  let blocked = false;
  api.addHook("onRequest", async (request, reply) => {
    if (!request.url.startsWith("/api/v1/stream")) return;
    if (blocked) {
      reply.hijack();
      reply.raw.destroy();
      return;
    }
    open.add(reply.raw);
    reply.raw.once("close", () => open.delete(reply.raw));
  });
  return {
    openStreams: () => open.size,
    blockStreams: (next) => {
      blocked = next;
      if (blocked) for (const stream of open) stream.destroy();
    },
  };
}
