/** What a process that works for a contestant and the one that measures say to each other. */

import type { ContestantKey } from "./contestants/index.ts";

export interface WorkOrder {
  readonly contestant: ContestantKey;
  readonly url: string;
  readonly concurrency: number;
  /** How many tasks there are in all, whoever gets them. */
  readonly tasks: number;
  /** So many are called before the time begins that counts. Default: none. */
  readonly untimed?: number;
  /** How long each handler takes on average; default: no time at all. */
  readonly restMs?: number;
  /** Whether each call is told at once, with its time. */
  readonly tellsEach?: boolean;
}

export type ToWorker = { readonly type: "start" } | { readonly type: "stop" };

export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "calls"; readonly calls: number }
  | { readonly type: "each"; readonly n: number; readonly atMs: number }
  | { readonly type: "report"; readonly report: WorkReport };

export interface WorkReport {
  readonly calls: number;
  /** By the clock that all processes of a machine share: of the first that counts, and of the last. */
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** How often each task was seen, by its number. */
  readonly seen: string;
  /** Where its begin and its end came in the order of all that this process saw, by its number, from 1; 0: never. */
  readonly began: string;
  readonly ended: string;
  /** From the start until the last call. */
  readonly cpuMs: number;
  readonly longestBlockMs: number;
  /** From a claim until the process of the task runs, where it has one. */
  readonly startsMs: readonly number[];
  /** What the contestant itself saw go wrong. */
  readonly faults: readonly string[];
}
