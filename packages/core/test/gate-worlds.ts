/**
 * Random worlds of task runs, and an oracle that judges them by counting rows. The oracle is written from the prose of DESIGN section 5 and calls nothing of `gates/`. Where the
 * prose is silent it follows the comments of the gates: a line is strict for all of a waiting task's
 * resources, and a task whose instance was lost goes on before lines and versions.
 */

import fc from "fast-check";
import type { Candidate } from "../src/domain/gates/gate.ts";
import {
  asRunId,
  asTaskId,
  asTaskRunId,
  type RunId,
  type TaskId,
  type TaskRunId,
} from "../src/domain/ids.ts";
import type { PromotionPlan } from "../src/domain/promotion.ts";
import type { PromotionSnapshot, ResourceSnapshot } from "../src/domain/promotion-snapshot.ts";
import type { Resource, ResourceName } from "../src/domain/resource.ts";
import type { LimitScope, PauseScope, WindowScope } from "../src/domain/scope.ts";
import type { WaitingCode } from "../src/domain/waiting-cause.ts";
import { limitSnapshot, rateSnapshot, resourceSnapshot } from "../src/testing/builders.ts";

export const NOW = new Date("2026-11-15T12:00:00.000Z");
const EARLIER = new Date("2026-11-15T11:59:59.999Z");
const LATER = new Date("2026-11-15T12:00:00.001Z");
export const NAMES = ["a", "b", "c"] as const;
export const RUNS = [asRunId("nightly"), asRunId("weekly")];
const QUEUES = ["default", "mail"] as const;
const KEYS = ["customer:7", "customer:8"] as const;
const RATES = ["sms", "ddl"] as const;
const KINDS = ["echo", "sql"] as const;
/** Whatever can be paused or have windows in these worlds. */
const SCOPES = [
  ...QUEUES.map((name) => `queue:${name}` as const),
  ...NAMES.map((name) => `resource:${name}` as const),
];
const STOP = { code: "APPROVAL", detail: null, since: EARLIER };
const PAUSE = { since: EARLIER, by: null, reason: null };
/** From the smallest to the largest. */
const VERSIONS = ["1", "1.9", "1.10", "2"];

export interface Active
  extends Pick<Candidate, "taskRunId" | "runId" | "queue" | "concurrencyKey" | "version" | "resources"> {
  /** AVAILABLE still; otherwise it runs. */
  readonly available: boolean;
}

export interface Pending extends Candidate {
  /** It is looked at in this pass. */
  readonly asks: boolean;
  /** An earlier pass put it into the lines of its resources. */
  readonly inLine: boolean;
}

export interface World {
  /** Of runs and queues: 0 is unlimited. Of keys: at least one. */
  readonly limits: ReadonlyMap<LimitScope, number>;
  readonly share: number;
  /** How many of each rate may start now. */
  readonly freeStarts: ReadonlyMap<string, number>;
  readonly paused: ReadonlySet<PauseScope>;
  readonly closed: ReadonlySet<WindowScope>;
  readonly stopped: ReadonlySet<TaskId>;
  readonly served: ReadonlySet<string>;
  readonly active: readonly Active[];
  readonly pending: readonly Pending[];
  readonly reserved: ReadonlyMap<ResourceName, TaskId>;
  /** The largest version that is DONE on each resource that has one. */
  readonly done: ReadonlyMap<ResourceName, string>;
  /** How much of each line the snapshot shows, at the least. */
  readonly sight: number;
}

const sometimes = fc.nat(4).map((n) => n === 0);
const rarely = fc.nat(49).map((n) => n === 0);
const work = {
  runId: fc.constantFrom(null, ...RUNS),
  queue: fc.constantFrom(...QUEUES),
  concurrencyKey: fc.constantFrom(null, null, null, ...KEYS),
  version: fc.constantFrom(null, null, ...VERSIONS),
  resources: fc.uniqueArray(
    fc.record({ name: fc.constantFrom(...NAMES), mode: fc.constantFrom("exclusive", "shared") }),
    { maxLength: 3, selector: ({ name }) => name },
  ),
};
const drawing = fc.record({
  limits: fc.tuple(fc.constantFrom(0, 0, 0, 1, 2), fc.constantFrom(0, 0, 1, 3)),
  queueLimits: fc.tuple(fc.constantFrom(0, 0, 0, 2), fc.constantFrom(0, 0, 1, 2)),
  keyLimits: fc.tuple(fc.constantFrom(1, 1, 2), fc.constant(1)),
  share: fc.constantFrom(1, 1, 2, 100),
  freeStarts: fc.tuple(fc.nat(2), fc.nat(1)),
  paused: fc.tuple(...[...SCOPES, ...RUNS].map(() => rarely)),
  closed: fc.tuple(...SCOPES.map(() => rarely)),
  served: fc.constantFrom(KINDS, KINDS, KINDS, KINDS, KINDS.slice(0, 1)),
  active: fc.array(fc.record({ ...work, available: fc.boolean() }), { maxLength: 3 }),
  pending: fc.array(
    fc.record({
      ...work,
      kind: fc.constantFrom(...KINDS),
      rate: fc.constantFrom(null, null, null, ...RATES),
      outOfOrder: sometimes,
      stopped: fc.nat(14).map((n) => n === 0),
      priority: fc.constantFrom(4, 5),
      enqueuedUs: fc.nat(3),
      runAt: fc.constantFrom(null, null, null, EARLIER, NOW, LATER),
      asks: fc.constantFrom(true, true, false),
      inLine: fc.boolean(),
      lost: sometimes,
    }),
    { maxLength: 8 },
  ),
  done: fc.tuple(...NAMES.map(() => fc.constantFrom(null, null, null, ...VERSIONS))),
  keptElsewhere: fc.constantFrom(null, null, null, ...NAMES),
  sight: fc.nat(2),
});
type Drawing = typeof drawing extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** Anything may be pending; what is active or reserved is what passes before this one can have left. */
export const anyWorld = drawing.map(build);
export const wholeLines = anyWorld.map((world): World => ({ ...world, sight: Number.POSITIVE_INFINITY }));
/** Everybody is due and is looked at, nothing is active, and nothing is closed or kept for a task that is not here. */
export const quietWorld = anyWorld.map((world): World => {
  const pending = world.pending.map((one) => ({ ...one, runAt: null, asks: true }));
  const freeStarts = new Map(RATES.map((rate) => [rate, 1]));
  const open = { paused: new Set<never>(), closed: new Set<never>(), stopped: new Set<never>(), freeStarts };
  const served = new Set(KINDS);
  const done = new Map<never, never>();
  return { ...world, ...open, served, active: [], pending, reserved: keptFor(pending, world), done };
});
/** Everybody wants one resource, and those in its line that are looked at turn out to wait for something else. */
export const crowd = anyWorld.map((world): World => {
  const pending = world.pending.map((one): Pending => {
    const resources = [{ name: "a", mode: one.resources[0]?.mode ?? "shared" }];
    return { ...one, resources, version: null, runAt: one.asks && one.inLine ? LATER : null };
  });
  return { ...world, pending, active: [], reserved: new Map(), stopped: new Set() };
});

function build(drawn: Drawing): World {
  const active: Active[] = [];
  for (const [i, one] of drawn.active.entries()) {
    const resources = one.resources.filter((wish) => !active.some((other) => collides(other, wish)));
    active.push({ ...one, taskRunId: asTaskRunId(`active-${i}`), resources });
  }
  const reserved = new Map<ResourceName, TaskId>();
  const stops = new Set<TaskId>();
  const pending = drawn.pending.map(({ lost, stopped, ...one }, i): Pending => {
    const taskId = asTaskId(`task-${i}`);
    if (stopped) stops.add(taskId);
    const alone = one.resources.filter(({ mode }) => mode === "exclusive");
    const couldHaveHeld =
      one.resources.every(({ name }) => !reserved.has(name)) &&
      alone.every((wish) => !active.some((other) => collides(other, wish)));
    if (lost && couldHaveHeld) for (const { name } of alone) reserved.set(name, taskId);
    const version = one.resources.length === 0 ? null : one.version;
    return { ...one, taskRunId: asTaskRunId(`pending-${i}`), taskId, version };
  });
  const kept = drawn.keptElsewhere;
  if (kept !== null && !reserved.has(kept) && !active.some((other) => wishFor(other, kept))) {
    reserved.set(kept, asTaskId("elsewhere"));
  }
  const limits = new Map<LimitScope, number>([
    ...RUNS.map((runId, i) => [`run:${runId}`, drawn.limits[i] ?? 0] as const),
    ...QUEUES.map((queue, i) => [`queue:${queue}`, drawn.queueLimits[i] ?? 0] as const),
    ...KEYS.map((key, i) => [`key:${key}`, drawn.keyLimits[i] ?? 1] as const),
  ]);
  const pausable: readonly PauseScope[] = [...SCOPES, ...RUNS.map((runId) => `run:${runId}` as const)];
  return {
    limits,
    share: drawn.share,
    freeStarts: new Map(RATES.map((rate, i) => [rate, drawn.freeStarts[i] ?? 0])),
    paused: new Set(pausable.filter((_, i) => drawn.paused[i])),
    closed: new Set(SCOPES.filter((_, i) => drawn.closed[i])),
    stopped: stops,
    served: new Set(drawn.served),
    active,
    pending,
    reserved,
    done: new Map(
      NAMES.flatMap((name, i) => {
        const version = drawn.done[i] ?? null;
        return version === null ? [] : [[name, version]];
      }),
    ),
    sight: drawn.sight,
  };
}

export function look(world: World): PromotionSnapshot {
  return {
    now: NOW,
    candidates: world.pending.filter(({ asks }) => asks),
    resources: new Map(NAMES.map((name) => [name, lookAtResource(world, name)])),
    limits: new Map(
      [...world.limits]
        .filter(([scope, limit]) => limit > 0 || !scope.startsWith("queue:"))
        .map(([scope, limit]) => {
          const used = slotsOf(world, scope);
          const below = Array.from({ length: limit === 0 ? 20 : limit }, (_, slot) => slot);
          const freeSlots = below.filter((slot) => !used.includes(slot));
          return [scope, limitSnapshot({ limit, active: used.length, freeSlots })];
        }),
    ),
    available: new Map(RUNS.map((runId) => [runId, world.active.filter(isAvailableOf(runId)).length])),
    fairShare: world.share,
    rates: new Map(
      [...world.freeStarts].map(([rate, free]) => {
        const freeSlots = Array.from({ length: free }, (_, slot) => slot);
        return [rate, rateSnapshot({ amount: 2, freeSlots })];
      }),
    ),
    pauses: new Map([...world.paused].map((scope) => [scope, PAUSE])),
    stops: new Map([...world.stopped].map((taskId) => [taskId, [STOP]])),
    windows: new Map(
      [...world.closed].map((scope) => [scope, { kind: "closed", because: "freeze", opensAt: null }]),
    ),
    servedKinds: world.served,
  };
}

export function lookAtResource(world: World, name: ResourceName): ResourceSnapshot {
  const users = world.active.filter((one) => wishFor(one, name));
  const sharers = users.filter((one) => wishFor(one, name)?.mode === "shared");
  const line = inOrder(world.pending.filter((one) => one.inLine && wishFor(one, name)));
  const firstAlone = line.findIndex((one) => wishFor(one, name)?.mode === "exclusive");
  const inSight = line.slice(0, Math.max(world.sight, firstAlone + 1, 1));
  const [lowest] = [...world.active, ...world.pending]
    .filter((one) => one.version !== null && wishFor(one, name))
    .toSorted((x, y) => rank(x) - rank(y));
  return resourceSnapshot({
    exclusiveHolder: users.find((one) => !sharers.includes(one))?.taskRunId ?? null,
    reservedFor: world.reserved.get(name) ?? null,
    sharedHolders: sharers.slice(0, 2).map(({ taskRunId }) => taskRunId),
    sharedCount: sharers.length,
    line: inSight.map((one) => ({ ...one, mode: wishFor(one, name)?.mode ?? "shared" })),
    lineGoesOn: inSight.length < line.length,
    lowestOpenVersion:
      lowest === undefined ? null : { version: lowest.version ?? "", taskRunId: lowest.taskRunId },
    doneVersion: world.done.get(name) ?? null,
  });
}

export function keptFor(rows: readonly Pending[], { reserved }: World): ReadonlyMap<ResourceName, TaskId> {
  return new Map([...reserved].filter(([, id]) => rows.some(({ taskId }) => taskId === id)));
}

/** Every other one: a limit may have been lowered since, so slots in use can be above it. */
export function slotsOf(world: World, scope: LimitScope): readonly number[] {
  return world.active.filter((one) => counts(one, scope)).map((_, i) => 2 * i);
}

export function counts(one: Active | Pending, scope: LimitScope): boolean {
  return [`run:${one.runId}`, `queue:${one.queue}`, `key:${one.concurrencyKey}`].includes(scope);
}

export function isAvailableOf(runId: RunId): (one: Active) => boolean {
  return (one) => one.runId === runId && one.available;
}

export function wishFor(one: Active | Pending, name: ResourceName): Resource | undefined {
  return one.resources.find((wish) => wish.name === name);
}

/** Both name the resource, and at least one of them wants it alone. */
export function collides(one: Active | Pending, wish: Resource): boolean {
  const other = wishFor(one, wish.name);
  return other !== undefined && (other.mode === "exclusive" || wish.mode === "exclusive");
}

function rank({ version }: Active | Pending): number {
  return version === null ? Number.NaN : VERSIONS.indexOf(version);
}

export function isSmaller(other: Active | Pending, one: Active | Pending): boolean {
  return rank(other) < rank(one) && one.resources.some(({ name }) => wishFor(other, name));
}

/** Something larger is DONE on one of its resources. */
export function isTooSmall(one: Pending, { done }: World): boolean {
  return one.resources.some(({ name }) => rank(one) < VERSIONS.indexOf(done.get(name) ?? ""));
}

function orderAgainst(
  one: Pending,
  world: World,
  open: readonly (Active | Pending)[],
): "OUT_OF_ORDER" | "VERSION_ORDER" | null {
  if (!one.outOfOrder && isTooSmall(one, world)) return "OUT_OF_ORDER";
  return open.some((other) => isSmaller(other, one)) ? "VERSION_ORDER" : null;
}

/** Priority, enqueued, id; all three of one width here. */
export function place({ priority, enqueuedUs, taskRunId }: Pending): string {
  return `${priority}/${enqueuedUs}/${taskRunId}`;
}

export function inOrder(line: readonly Pending[]): readonly Pending[] {
  return line.toSorted((x, y) => (place(x) < place(y) ? -1 : 1));
}

export function oracle(world: World): ReadonlyMap<TaskRunId, WaitingCode | "ADMITTED"> {
  const open = [...world.active, ...world.pending];
  const active: (Active | Pending)[] = [...world.active];
  // Whoever was admitted in this pass has not been claimed.
  const isAvailable = (one: Active | Pending): boolean => ("available" in one ? one.available : true);
  const starts = new Map(world.freeStarts);
  const reserved = new Map(world.reserved);
  const line = new Set(world.pending.filter(({ inLine }) => inLine));
  const hasItsShare = (runId: RunId | null): boolean =>
    runId !== null &&
    active.filter((other) => other.runId === runId && isAvailable(other)).length >= world.share;
  const isFree = (one: Pending, goesOn: boolean): boolean => {
    const isAhead = (other: Pending) => place(other) < place(one) && !(rank(one) < rank(other));
    return one.resources.every(
      (wish) =>
        !active.some((holder) => collides(holder, wish)) &&
        (reserved.get(wish.name) ?? one.taskId) === one.taskId &&
        (goesOn || ![...line].some((ahead) => isAhead(ahead) && collides(ahead, wish))),
    );
  };
  const verdictOn = (one: Pending): WaitingCode | "ADMITTED" => {
    const goesOn = one.resources.some(({ name }) => reserved.get(name) === one.taskId);
    const rule = ruleAgainst(one, world);
    if (rule !== null) return rule;
    const order = goesOn ? null : orderAgainst(one, world, open);
    if (order !== null) return order;
    const limit = limitAgainst(one, world, active);
    if (limit !== null) return limit;
    if (hasItsShare(one.runId)) return "FAIR_SHARE";
    if (starts.get(one.rate ?? "") === 0) return "RATE_LIMIT";
    return isFree(one, goesOn) ? "ADMITTED" : "RESOURCE_BUSY";
  };
  const verdicts = new Map<TaskRunId, WaitingCode | "ADMITTED">();
  for (const one of inOrder(world.pending.filter(({ asks }) => asks))) {
    const verdict = verdictOn(one);
    verdicts.set(one.taskRunId, verdict);
    if (verdict === "RESOURCE_BUSY") line.add(one);
    else line.delete(one);
    if (verdict !== "ADMITTED") continue;
    active.push(one);
    if (one.rate !== null) starts.set(one.rate, (starts.get(one.rate) ?? 0) - 1);
    for (const { name } of one.resources) reserved.delete(name);
  }
  return verdicts;
}

function limitAgainst(one: Pending, world: World, active: readonly (Active | Pending)[]): WaitingCode | null {
  const isFull = (scope: LimitScope): boolean => {
    const limit = world.limits.get(scope) ?? 0;
    return limit > 0 && active.filter((other) => counts(other, scope)).length >= limit;
  };
  if (isFull(`run:${one.runId}`)) return "RUN_LIMIT";
  if (isFull(`queue:${one.queue}`)) return "QUEUE_LIMIT";
  return isFull(`key:${one.concurrencyKey}`) ? "KEY_LIMIT" : null;
}

/** What its caller, people and packages have said about it, whatever is active. */
export function ruleAgainst(one: Pending, world: World): WaitingCode | null {
  const scopes = [
    `queue:${one.queue}` as const,
    ...one.resources.map(({ name }) => `resource:${name}` as const),
  ];
  if (one.runAt !== null && one.runAt > NOW) return "RUN_AT";
  if (world.stopped.has(one.taskId)) return "STOPPED";
  if ([...scopes, `run:${one.runId}` as const].some((scope) => world.paused.has(scope))) return "PAUSED";
  if (!world.served.has(one.kind)) return "NO_EXECUTOR";
  if (scopes.some((scope) => world.closed.has(scope))) return "WINDOW";
  return null;
}

/** Whom the plan admits, as rows. */
export function admitted(world: World, plan: PromotionPlan): readonly Pending[] {
  return plan.promote.flatMap(({ taskRunId }) => world.pending.filter((one) => one.taskRunId === taskRunId));
}
