/** Throughput and latency of what has ended of late, by spans of time. Pure. */

import type { TaskRun } from "@signalbox/contract";

const BUCKETS = 40;
const LEAST_MS = 5_000;
const LEGS = ["gate", "claim", "run"] as const;

export type LegName = (typeof LEGS)[number];
type EndedStatus = "DONE" | "FAILED" | "CANCELED";

export interface ChartData {
  readonly bucketMs: number;
  /** The beginning of each span, in milliseconds. */
  readonly from: readonly number[];
  /** How many ended in each span; null of one that is not over yet: it would look like a fall. */
  readonly ended: Readonly<Record<EndedStatus, readonly (number | null)[]>>;
  readonly total: Readonly<Record<EndedStatus, number>>;
  /** The 95th percentile of each span in milliseconds; null where nothing ended. */
  readonly p95: Readonly<Record<LegName, readonly (number | null)[]>>;
  readonly whole: Readonly<Record<LegName, { readonly p50: number; readonly p95: number } | null>>;
}

export function chartData(taskRuns: readonly TaskRun[], now: number): ChartData | null {
  const ended = taskRuns.filter((taskRun) => taskRun.finishedAt !== null);
  const ends = ended.map(({ finishedAt }) => Date.parse(finishedAt ?? ""));
  if (ends.length === 0) return null;
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const bucketMs = Math.max(LEAST_MS, Math.ceil((last - first + 1) / BUCKETS / LEAST_MS) * LEAST_MS);
  const start = Math.floor(first / bucketMs) * bucketMs;
  const buckets = Array.from({ length: Math.floor((last - start) / bucketMs) + 1 }, (): TaskRun[] => []);
  ended.forEach((taskRun, index) =>
    buckets[Math.floor(((ends[index] ?? 0) - start) / bucketMs)]?.push(taskRun),
  );
  const isOver = (index: number): boolean => start + (index + 1) * bucketMs <= now;
  const count = (among: readonly TaskRun[], status: EndedStatus): number =>
    among.filter((taskRun) => taskRun.status === status).length;
  return {
    bucketMs,
    from: buckets.map((_, index) => start + index * bucketMs),
    ended: byStatus((status) =>
      // The only one there is says more than nothing.
      buckets.map((bucket, index) => (isOver(index) || buckets.length === 1 ? count(bucket, status) : null)),
    ),
    total: byStatus((status) => count(ended, status)),
    p95: byLeg((leg) => buckets.map((bucket) => percentile(lengthsOf(bucket, leg), 0.95))),
    whole: byLeg((leg) => wholeOf(lengthsOf(ended, leg))),
  };
}

function byStatus<Value>(value: (status: EndedStatus) => Value): Readonly<Record<EndedStatus, Value>> {
  return { DONE: value("DONE"), FAILED: value("FAILED"), CANCELED: value("CANCELED") };
}

function byLeg<Value>(value: (leg: LegName) => Value): Readonly<Record<LegName, Value>> {
  return { gate: value("gate"), claim: value("claim"), run: value("run") };
}

function wholeOf(lengths: readonly number[]): { readonly p50: number; readonly p95: number } | null {
  const [p50, p95] = [percentile(lengths, 0.5), percentile(lengths, 0.95)];
  return p50 === null || p95 === null ? null : { p50, p95 };
}

const STAMPS = {
  gate: ["enqueuedAt", "availableAt"],
  claim: ["availableAt", "claimedAt"],
  run: ["claimedAt", "finishedAt"],
} as const satisfies Record<LegName, readonly [keyof TaskRun, keyof TaskRun]>;

function lengthsOf(taskRuns: readonly TaskRun[], leg: LegName): readonly number[] {
  const [from, until] = STAMPS[leg];
  return taskRuns.flatMap((taskRun) => {
    const [begun, ended] = [taskRun[from], taskRun[until]];
    return begun === null || ended === null ? [] : [Math.max(0, Date.parse(ended) - Date.parse(begun))];
  });
}

/** The nearest rank; null of nothing. */
function percentile(values: readonly number[], part: number): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
}
