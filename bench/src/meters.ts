/** What the server spent, by its own counters and by those of the kernel. */

import { readdirSync, readFileSync } from "node:fs";
import type { Database } from "./database.ts";

export interface Spent {
  readonly serverCpuMs: number;
  readonly walBytes: number;
  readonly statements: number;
}

interface Reading extends Spent {}

/** Kernel ticks; 100 a second on every Linux there is. */
const TICK_MS = 10;

export async function meter(database: Database): Promise<() => Promise<Spent>> {
  const before = await read(database);
  return async () => {
    const after = await read(database);
    return {
      serverCpuMs: after.serverCpuMs - before.serverCpuMs,
      walBytes: after.walBytes - before.walBytes,
      statements: after.statements - before.statements,
    };
  };
}

async function read(database: Database): Promise<Reading> {
  const [row] = await database.query<{ pid: number; wal: string; statements: string }>(`
    SELECT pg_backend_pid() AS pid, pg_current_wal_insert_lsn() - '0/0' AS wal,
           (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
               -- A deferred foreign key is looked up for each row at the commit, which nobody has sent.
               AND query NOT LIKE '% FOR KEY SHARE OF x') AS statements`);
  if (row === undefined) throw new Error("The server says nothing about itself");
  return {
    serverCpuMs: cpuOfServer(row.pid),
    walBytes: Number(row.wal),
    statements: Number(row.statements),
  };
}

/** Of the postmaster, of all its children, and of those that have ended. */
function cpuOfServer(backend: number): number {
  const postmaster = statOf(backend)?.parent;
  if (postmaster === undefined) return Number.NaN;
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(Number(name));
    if (stat?.pid === postmaster) ticks += stat.own + stat.ofChildren;
    else if (stat?.parent === postmaster) ticks += stat.own;
  }
  return ticks * TICK_MS;
}

function statOf(pid: number): { pid: number; parent: number; own: number; ofChildren: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
    return { pid, parent, own: utime + stime, ofChildren: cutime + cstime };
  } catch {
    return null;
  }
}
