/** Whether a limit was broken as the handlers saw it, whatever our rows say: by the order of their begins and ends. Pure. */

import type { Load, LoadTask } from "./contestants/contestant.ts";

/** Of one process. By the number of the task: where it came in the order of all begins and ends, from 1; 0: never. */
export interface Calls {
  readonly began: Int32Array;
  readonly ended: Int32Array;
}

export interface Limits {
  readonly slots: number;
  /** What was to be held, where there are gates. */
  readonly load: Load | null;
}

export function callFaults(calls: Calls, { slots, load }: Limits): readonly string[] {
  const most = mostAtOnce(calls, () => "process").get("process") ?? 0;
  const ownFaults = most > slots ? [`${most} handlers were at work at once on ${slots} slots`] : [];
  return load === null ? ownFaults : [...ownFaults, ...loadFaults(calls, load)];
}

function loadFaults(calls: Calls, { tasks, runLimit, keyLimit }: Load): readonly string[] {
  const byNumber = new Map(tasks.map((task) => [task.n, task]));
  const beyond = (scope: "resource" | "run" | "key", limit: number | undefined): readonly string[] => {
    if (limit === undefined) return [];
    const most = mostAtOnce(calls, (n) => byNumber.get(n)?.[scope]);
    const over = [...most.values()].filter((count) => count > limit);
    if (over.length === 0) return [];
    return [`${Math.max(...over)} handlers were at work at once of one ${scope}, limit ${limit}`];
  };
  const inverted = invertedCount(calls, tasks);
  return [
    ...beyond("resource", 1),
    ...beyond("run", runLimit),
    ...beyond("key", keyLimit),
    ...(inverted === 0 ? [] : [`${inverted} handlers began after a larger version`]),
  ];
}

/** One that has not ended stays for ever. */
function mostAtOnce<Scope>(
  { began, ended }: Calls,
  scopeOf: (n: number) => Scope | undefined,
): ReadonlyMap<Scope, number> {
  const used = new Map<Scope, number>();
  const most = new Map<Scope, number>();
  for (const edge of inOrder(began, ended)) {
    // One that ran twice left a gap; that it did is said elsewhere.
    const scope = edge === 0 ? undefined : scopeOf(Math.abs(edge) - 1);
    if (scope === undefined) continue;
    const now = (used.get(scope) ?? 0) + Math.sign(edge);
    used.set(scope, now);
    if (now > (most.get(scope) ?? 0)) most.set(scope, now);
  }
  return most;
}

/** The numbers of those that began, and below zero of those that ended, all counted from 1: there may be millions. */
function inOrder(began: Int32Array, ended: Int32Array): Int32Array {
  const edges = new Int32Array(Math.max(lastOf(began), lastOf(ended)));
  for (const [n, position] of began.entries()) if (position > 0) edges[position - 1] = n + 1;
  for (const [n, position] of ended.entries()) if (position > 0) edges[position - 1] = -(n + 1);
  return edges;
}

function lastOf(positions: Int32Array): number {
  return positions.reduce((last, position) => Math.max(last, position), 0);
}

function invertedCount({ began }: Calls, tasks: readonly LoadTask[]): number {
  const largest = new Map<string, number>();
  let inverted = 0;
  const called = tasks.filter(({ n }) => (began[n] ?? 0) > 0);
  for (const { resource, version } of called.toSorted((a, b) => (began[a.n] ?? 0) - (began[b.n] ?? 0))) {
    if (resource === undefined || version === undefined) continue;
    const before = largest.get(resource) ?? Number.NEGATIVE_INFINITY;
    if (Number(version) < before) inverted += 1;
    else largest.set(resource, Number(version));
  }
  return inverted;
}
