/**
 * The instance's side of the warden: started with the first process, asked for every further one. If the warden is
 * lost, its groups are ended from here and the next process gets a new warden.
 */

import { randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LeaseSource, ProcessHost } from "./running-process.ts";
import { openWarden, type Warden } from "./warden-client.ts";

export interface Processes {
  /** Starts processes under this lease. */
  readonly of: (lease: LeaseSource) => ProcessHost;
  /** Ends what still runs. Resolves when the warden has gone, or after 10 s. */
  readonly close: () => Promise<void>;
}

export function createProcesses(): Processes {
  let current: Promise<Warden> | null = null;
  let isClosed = false;
  const begin = async (): Promise<Warden> => {
    const forget = (): void => {
      current = null;
    };
    try {
      return await openWarden(await mkdtemp(join(tmpdir(), "signalbox-")), forget);
    } catch (error) {
      forget();
      throw error;
    }
  };
  const open = async (): Promise<Warden> => {
    if (isClosed) throw new Error("The instance has stopped");
    current ??= begin();
    return await current;
  };
  return {
    of: (lease) => ({
      makeFolder: async () => await mkdtemp(join((await open()).folder, "task-")),
      start: async (spec) => {
        const warden = await open();
        lease.reportTo(warden.beatSocket);
        const { life, leaseMs } = lease;
        return await warden.start(randomUUID(), spec, { life, leaseMs, renewedAtMs: lease.renewedAtMs() });
      },
    }),
    close: async () => {
      isClosed = true;
      const last = await current?.catch(() => null);
      await last?.close();
    },
  };
}
