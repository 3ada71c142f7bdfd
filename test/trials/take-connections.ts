/** Somebody takes every connection that the server has left. */

import pg from "pg";
import { expect } from "vitest";
import type { ToldError } from "../ha/instance-messages.ts";
import type { Rig } from "../ha/rig.ts";
import { until } from "../ha/until.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;

/** So few that they are soon taken. */
export const FEW_CONNECTIONS = { max_connections: "40" };

export function tooMany({ code }: ToldError): boolean {
  return code === "53300";
}

export async function takeConnections({ cluster, databaseUrl }: Rig): Promise<Shown> {
  const refusedBefore = cluster.told("loop.failed").filter(tooMany).length;
  const refused = (): number => cluster.told("loop.failed").filter(tooMany).length - refusedBefore;
  const guests = await fill(databaseUrl);
  expect(guests.length).toBeGreaterThan(0);
  const fencedBefore = cluster.count("instance.fenced");
  // Pools must come back for more, the lease's own connection is kept. By a guest: for anybody else there is no connection left.
  await guests[0]?.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'signalbox instance-%'",
  );
  const more = await fill(databaseUrl);
  await until("passes are refused", () => refused() >= 5, { withinMs: WITHIN_MS });
  const fenced = cluster.count("instance.fenced") - fencedBefore;
  await Promise.all([...guests, ...more].map(async (guest) => await guest.end()));

  expect(fenced).toBe(0);
  return {
    faults: { "connections taken away": guests.length + more.length },
    paths: { "passes refused with 53300": refused() },
  };
}

async function fill(databaseUrl: string): Promise<readonly pg.Client[]> {
  const guests: pg.Client[] = [];
  for (;;) {
    const guest = new pg.Client({
      connectionString: databaseUrl,
      query_timeout: 10_000,
      application_name: "guest",
    });
    guest.on("error", () => {});
    try {
      await guest.connect();
      guests.push(guest);
    } catch {
      return guests;
    }
  }
}
