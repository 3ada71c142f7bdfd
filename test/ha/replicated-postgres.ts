/** A PostgreSQL with a standby that can take over. Both go with the test. */

import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { removePostgres } from "../../packages/server/src/postgres/remove.ts";
import { type RunningPostgres, startPostgres } from "../../packages/server/src/postgres/start.ts";
import { makeOwnDir, quitAtOnce } from "./own-dir.ts";
import { complaintsOf, OWN_SETTINGS, type OwnPostgres } from "./own-postgres.ts";
import { copyForStandby } from "./standby.ts";
import { until } from "./until.ts";
import { openWire, type Wire } from "./wire.ts";

export interface ReplicatedPostgres extends OwnPostgres {
  /** Past the wire of `url`. */
  readonly primaryUrl: string;
  /** Whether commits wait for the standby. */
  setSynchronous(on: boolean): Promise<void>;
  /** From now on the standby gets nothing more. */
  cutReplication(): Promise<void>;
  /** Whatever the primary has written so far has arrived. */
  caughtUp(): Promise<void>;
  /**
   * Ends the primary at once, promotes the standby and leads there; `leaveOldRunning` leaves the old one up, as a split
   * brain does. Resolves to how long nobody could write, once the promoted server does.
   */
  failOver(options?: {
    readonly leaveOldRunning?: boolean;
  }): Promise<{ readonly ms: number; readonly oldUrl: string }>;
  /** A standby of the server that is the primary now. */
  addStandby(): Promise<void>;
}

const SETTINGS = { ...OWN_SETTINGS, wal_keep_size: "256MB", hot_standby: "on", wal_receiver_timeout: "5s" };
const WITHIN_MS = 60_000;

interface Server {
  readonly name: string;
  readonly running: RunningPostgres;
  readonly dir: string;
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const place = await makeOwnDir();
  const servers: Server[] = [];
  let made = 0;
  const start = async (dir: string, name: string): Promise<Server> => {
    const running = await startPostgres({
      dir,
      durable: false,
      binDir: process.env["PG_BINDIR"],
      settings: SETTINGS,
    });
    const server = { name, running, dir };
    servers.push(server);
    place.holds(running.dataDir);
    return server;
  };
  const nextDir = async (): Promise<{ dir: string; name: string }> => {
    made += 1;
    const name = `server_${made}`;
    const dir = join(place.dir, name);
    await mkdir(dir, { mode: 0o755 });
    return { dir, name };
  };
  const remove = async (): Promise<void> => {
    await wire?.close();
    for (const { dir } of servers) await removePostgres(dir);
    await place.remove();
  };
  let wire: Wire | null = null;
  try {
    const first = await nextDir();
    let primary = await start(first.dir, first.name);
    let standby: Server | null = null;
    const lead = await openWire(primary.running.url);
    wire = lead;
    const requireStandby = (): Server => {
      if (standby === null) throw new Error("There is no standby");
      return standby;
    };
    const addStandby = async (): Promise<void> => {
      const { dir, name } = await nextDir();
      await copyForStandby({ primaryUrl: primary.running.url, from: primary.running.dataDir, dir, name });
      standby = await start(dir, name);
      await isStreaming(primary, name);
    };
    await addStandby();
    return {
      dir: place.dir,
      url: lead.url,
      get primaryUrl() {
        return primary.running.url;
      },
      complaints: async () => await complaintsOf(primary.running.dataDir),
      restart: async () => await Promise.reject(new Error("A replicated PostgreSQL fails over instead")),
      setSynchronous: async (on) => {
        await ask(
          primary,
          `ALTER SYSTEM SET synchronous_standby_names = '${on ? requireStandby().name : ""}'`,
        );
        await ask(primary, "SELECT pg_reload_conf()");
        await until(
          "the primary has its setting",
          async () =>
            (await ask(primary, "SHOW synchronous_standby_names"))[0] === (on ? requireStandby().name : ""),
          { withinMs: WITHIN_MS },
        );
      },
      cutReplication: async () => {
        await ask(requireStandby(), "ALTER SYSTEM SET primary_conninfo = ''");
        await ask(requireStandby(), "SELECT pg_reload_conf()");
        const streams = "SELECT count(*)::text FROM pg_stat_replication";
        await until("nothing is sent any more", async () => (await ask(primary, streams))[0] === "0", {
          withinMs: WITHIN_MS,
        });
      },
      caughtUp: async () => {
        const [written = ""] = await ask(primary, "SELECT pg_current_wal_lsn()::text");
        const arrived = `SELECT (pg_last_wal_replay_lsn() >= '${written}'::pg_lsn)::text`;
        await until(
          "the standby has caught up",
          async () => (await ask(requireStandby(), arrived))[0] === "true",
          {
            withinMs: WITHIN_MS,
          },
        );
      },
      addStandby,
      failOver: async ({ leaveOldRunning = false } = {}) => {
        const old = primary;
        const next = requireStandby();
        const fromMs = performance.now();
        if (!leaveOldRunning) {
          quitAtOnce(old.running.dataDir);
          await old.running.stop();
        }
        await ask(next, "SELECT pg_promote(true, 30)::text");
        primary = next;
        standby = null;
        lead.leadTo(next.running.url);
        lead.cut();
        return { ms: Math.round(performance.now() - fromMs), oldUrl: old.running.url };
      },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function isStreaming(primary: Server, name: string): Promise<void> {
  const streaming = `SELECT state FROM pg_stat_replication WHERE application_name = '${name}'`;
  await until(`${name} follows`, async () => (await ask(primary, streaming))[0] === "streaming", {
    withinMs: WITHIN_MS,
    instead: () =>
      readFileSync(join(primary.dir, "..", name, "postgres", "server.log"), "utf8").slice(-2_000),
  });
}

/** The first column. */
async function ask({ running }: Server, statement: string): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ connectionString: running.url, query_timeout: 40_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query<Record<string, string>>(statement);
      return rows.flatMap((row) => Object.values(row).slice(0, 1));
    } catch (error) {
      // Its sessions may be cut off by a fault of the same moment.
      if (tries >= 5) throw error;
      await wait(200);
    } finally {
      await client.end().catch(() => {});
    }
  }
}
