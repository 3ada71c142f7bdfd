import type { Contestant } from "./contestant.ts";
import { graphileBatched, graphilePlain, graphileWide } from "./graphile-worker.ts";
import { pgBossBatched, pgBossSingle } from "./pg-boss.ts";
import { signalboxProcesses, signalboxSleepers, spawned } from "./processes.ts";
import { raw } from "./raw.ts";
import { signalbox, signalboxWaiters } from "./signalbox.ts";

export const CONTESTANTS = {
  signalbox,
  graphileBatched,
  graphileWide,
  graphilePlain,
  pgBossBatched,
  pgBossSingle,
  raw,
  signalboxProcesses,
  signalboxSleepers,
  signalboxWaiters,
  spawned,
} satisfies Record<string, Contestant>;

export type ContestantKey = keyof typeof CONTESTANTS;
