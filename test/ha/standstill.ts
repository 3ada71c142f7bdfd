/**
 * For how long the machine itself stood still: no timer came, or no disk answered. A server ends what took longer than a
 * statement may, whatever kept it; where the machine did, that is nobody's mistake.
 */

import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const EVERY_MS = 250;

export interface StandstillWatch {
  /** The longest so far, with the one that is not over yet. */
  longestMs(): number;
  stop(): Promise<void>;
}

export function watchStandstill(dir: string): StandstillWatch {
  const file = join(dir, `standstill-${process.pid}`);
  let longestMs = 0;
  let fromMs = performance.now();
  let isOver = false;
  const look = (): void => {
    longestMs = Math.max(longestMs, performance.now() - fromMs - EVERY_MS);
  };
  const watch = async (): Promise<void> => {
    while (!isOver) {
      fromMs = performance.now();
      // A disk that refuses has answered too.
      await writeThrough(file).catch(() => {});
      await wait(EVERY_MS);
      look();
    }
    await rm(file, { force: true });
  };
  const watching = watch();
  return {
    longestMs: () => {
      look();
      return Math.round(longestMs);
    },
    stop: async () => {
      isOver = true;
      await watching;
    },
  };
}

async function writeThrough(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    await file.write("still here");
    await file.datasync();
  } finally {
    await file.close();
  }
}
