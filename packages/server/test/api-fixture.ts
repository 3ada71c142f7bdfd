/** What every test of the API needs: a database, an instance that steps by hand, the API on it, and its client. */

import { type Client, createClient, type Problem, ProblemError } from "@signalbox/contract";
import { defineTask } from "@signalbox/core";
import {
  createManualScheduler,
  createTestDatabase,
  type ManualScheduler,
  type TestDatabase,
} from "@signalbox/core/testing";
import { createApi } from "../src/http/create-api.ts";
import { listenOnLoopback } from "../src/http/listen.ts";

const report = defineTask({
  kind: "report",
  run: (input, { log }) => {
    log(`begins\nReport of ${JSON.stringify(input)}`);
    return input;
  },
});

export interface ApiFixture {
  readonly database: TestDatabase;
  /** An instance that knows `report`. */
  readonly scheduler: ManualScheduler;
  readonly client: Client;
  readonly url: string;
  /** What was logged, because nobody foresaw it. */
  readonly logged: readonly unknown[];
  readonly close: () => Promise<void>;
}

export async function openApi(adminUrl: string): Promise<ApiFixture> {
  const database = await createTestDatabase(adminUrl);
  const scheduler = await createManualScheduler({
    databaseUrl: database.url,
    tasks: [report],
    name: "inst-a",
    slots: 3,
  });
  const logged: unknown[] = [];
  const app = createApi({
    scheduler,
    serverId: "server-1",
    logger: { error: (entry: unknown) => logged.push(entry) },
  });
  const { url } = await listenOnLoopback(app, 27_510);
  return {
    database,
    scheduler,
    client: createClient(url),
    url,
    logged,
    close: async () => {
      await app.close();
      await scheduler.close();
      await database.drop();
    },
  };
}

/** What was refused. */
export async function problemOf(asked: Promise<unknown>): Promise<Problem> {
  const error = await asked.then(
    () => new Error("It was not refused"),
    (caught: unknown) => caught,
  );
  if (error instanceof ProblemError) return error.problem;
  throw error;
}
