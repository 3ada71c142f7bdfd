/**
 * Random worlds of task runs, judged twice: by `planPromotions` from a snapshot, and by an oracle that counts
 * rows. The oracle is written from the prose of DESIGN section 5 and calls nothing of `gates/`. Where the
 * prose is silent it follows the comments of the gates: a line is strict for all of a waiting task's
 * resources, and a task whose instance was lost goes on before lines and versions.
 */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limitSnapshot, rateSnapshot, resourceSnapshot } from "../testing/builders.ts";
import type { Candidate } from "./gates/gate.ts";
import { GATE_CODES } from "./gates/gates.ts";
import { asRunId, asTaskId, asTaskRunId, type RunId, type TaskId, type TaskRunId } from "./ids.ts";
import { type PromotionPlan, planPromotions } from "./promotion.ts";
import type { PromotionSnapshot, ResourceSnapshot } from "./promotion-snapshot.ts";
import type { Resource, ResourceName } from "./resource.ts";
import type { LimitScope, PauseScope, WindowScope } from "./scope.ts";
import type { WaitingCause, WaitingCode } from "./waiting-cause.ts";

const NOW = new Date("2026-11-15T12:00:00.000Z");
const EARLIER = new Date("2026-11-15T11:59:59.999Z");
const LATER = new Date("2026-11-15T12:00:00.001Z");
const NAMES = ["a", "b", "c"] as const;
const RUNS = [asRunId("nightly"), asRunId("weekly")];
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

interface Active
  extends Pick<Candidate, "taskRunId" | "runId" | "queue" | "concurrencyKey" | "version" | "resources"> {
  /** AVAILABLE still; otherwise it runs. */
  readonly available: boolean;
}

interface Pending extends Candidate {
  /** It is looked at in this pass. */
  readonly asks: boolean;
  /** An earlier pass put it into the lines of its resources. */
  readonly inLine: boolean;
}

interface World {
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
  keptElsewhere: fc.constantFrom(null, null, null, ...NAMES),
  sight: fc.nat(2),
});
type Drawing = typeof drawing extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** Anything may be pending; what is active or reserved is what passes before this one can have left. */
const anyWorld = drawing.map(build);
const wholeLines = anyWorld.map((world): World => ({ ...world, sight: Number.POSITIVE_INFINITY }));
/** Everybody is due and is looked at, nothing is active, and nothing is closed or kept for a task that is not here. */
const quietWorld = anyWorld.map((world): World => {
  const pending = world.pending.map((one) => ({ ...one, runAt: null, asks: true }));
  const freeStarts = new Map(RATES.map((rate) => [rate, 1]));
  const open = { paused: new Set<never>(), closed: new Set<never>(), stopped: new Set<never>(), freeStarts };
  const served = new Set(KINDS);
  return { ...world, ...open, served, active: [], pending, reserved: keptFor(pending, world) };
});
/** Everybody wants one resource, and those in its line that are looked at turn out to wait for something else. */
const crowd = anyWorld.map((world): World => {
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
    sight: drawn.sight,
  };
}

function look(world: World): PromotionSnapshot {
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

function lookAtResource(world: World, name: ResourceName): ResourceSnapshot {
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
  });
}

function keptFor(rows: readonly Pending[], { reserved }: World): ReadonlyMap<ResourceName, TaskId> {
  return new Map([...reserved].filter(([, id]) => rows.some(({ taskId }) => taskId === id)));
}

/** Every other one: a limit may have been lowered since, so slots in use can be above it. */
function slotsOf(world: World, scope: LimitScope): readonly number[] {
  return world.active.filter((one) => counts(one, scope)).map((_, i) => 2 * i);
}

function counts(one: Active | Pending, scope: LimitScope): boolean {
  return [`run:${one.runId}`, `queue:${one.queue}`, `key:${one.concurrencyKey}`].includes(scope);
}

function isAvailableOf(runId: RunId): (one: Active) => boolean {
  return (one) => one.runId === runId && one.available;
}

function wishFor(one: Active | Pending, name: ResourceName): Resource | undefined {
  return one.resources.find((wish) => wish.name === name);
}

/** Both name the resource, and at least one of them wants it alone. */
function collides(one: Active | Pending, wish: Resource): boolean {
  const other = wishFor(one, wish.name);
  return other !== undefined && (other.mode === "exclusive" || wish.mode === "exclusive");
}

function rank({ version }: Active | Pending): number {
  return version === null ? Number.NaN : VERSIONS.indexOf(version);
}

function isSmaller(other: Active | Pending, one: Active | Pending): boolean {
  return rank(other) < rank(one) && one.resources.some(({ name }) => wishFor(other, name));
}

/** Priority, enqueued, id; all three of one width here. */
function place({ priority, enqueuedUs, taskRunId }: Pending): string {
  return `${priority}/${enqueuedUs}/${taskRunId}`;
}

function inOrder(line: readonly Pending[]): readonly Pending[] {
  return line.toSorted((x, y) => (place(x) < place(y) ? -1 : 1));
}

function oracle(world: World): ReadonlyMap<TaskRunId, WaitingCode | "ADMITTED"> {
  const open = [...world.active, ...world.pending];
  const active: (Active | Pending)[] = [...world.active];
  // Whoever was admitted in this pass has not been claimed.
  const isAvailable = (one: Active | Pending): boolean => ("available" in one ? one.available : true);
  const starts = new Map(world.freeStarts);
  const reserved = new Map(world.reserved);
  const line = new Set(world.pending.filter(({ inLine }) => inLine));
  const verdictOn = (one: Pending): WaitingCode | "ADMITTED" => {
    const goesOn = one.resources.some(({ name }) => reserved.get(name) === one.taskId);
    const isAhead = (other: Pending) => place(other) < place(one) && !(rank(one) < rank(other));
    if (one.runAt !== null && one.runAt > NOW) return "RUN_AT";
    const rule = ruleAgainst(one, world);
    if (rule !== null) return rule;
    if (!goesOn && open.some((other) => isSmaller(other, one))) return "VERSION_ORDER";
    const isFull = (scope: LimitScope): boolean => {
      const limit = world.limits.get(scope) ?? 0;
      return limit > 0 && active.filter((other) => counts(other, scope)).length >= limit;
    };
    if (isFull(`run:${one.runId}`)) return "RUN_LIMIT";
    if (isFull(`queue:${one.queue}`)) return "QUEUE_LIMIT";
    if (isFull(`key:${one.concurrencyKey}`)) return "KEY_LIMIT";
    const waitsForClaims = active.filter((other) => other.runId === one.runId && isAvailable(other));
    if (one.runId !== null && waitsForClaims.length >= world.share) return "FAIR_SHARE";
    if (one.rate !== null && starts.get(one.rate) === 0) return "RATE_LIMIT";
    const free = one.resources.every(
      (wish) =>
        !active.some((holder) => collides(holder, wish)) &&
        (reserved.get(wish.name) ?? one.taskId) === one.taskId &&
        (goesOn || ![...line].some((ahead) => isAhead(ahead) && collides(ahead, wish))),
    );
    return free ? "ADMITTED" : "RESOURCE_BUSY";
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

/** What people and packages have said about it, whatever is active. */
function ruleAgainst(one: Pending, world: World): WaitingCode | null {
  const scopes = [
    `queue:${one.queue}` as const,
    ...one.resources.map(({ name }) => `resource:${name}` as const),
  ];
  if (world.stopped.has(one.taskId)) return "STOPPED";
  if ([...scopes, `run:${one.runId}` as const].some((scope) => world.paused.has(scope))) return "PAUSED";
  if (!world.served.has(one.kind)) return "NO_EXECUTOR";
  if (scopes.some((scope) => world.closed.has(scope))) return "WINDOW";
  return null;
}

/** Whom the plan admits, as rows. */
function admitted(world: World, plan: PromotionPlan): readonly Pending[] {
  return plan.promote.flatMap(({ taskRunId }) => world.pending.filter((one) => one.taskRunId === taskRunId));
}

function always(worlds: fc.Arbitrary<World>, check: (world: World, plan: PromotionPlan) => void): void {
  const property = fc.property(worlds, (world) => check(world, planPromotions(look(world))));
  fc.assert(property, { numRuns: 200 });
}

describe("the random worlds", () => {
  it("lead to every gate, and past them, often enough to mean something", () => {
    const worlds = fc.sample(wholeLines, { numRuns: 300, seed: 1 });
    const verdicts = worlds.flatMap((world) => [...oracle(world).values()]);

    for (const verdict of ["ADMITTED", ...GATE_CODES]) {
      expect(verdicts.filter((one) => one === verdict).length, verdict).toBeGreaterThan(
        verdicts.length / 100,
      );
    }
  });
});

describe("whatever is pending, a plan", () => {
  it("admits exactly those that pass every gate one after another in line order", () => {
    always(wholeLines, (world, plan) => {
      const verdicts = [...oracle(world)];

      expect(plan.promote.map(({ taskRunId }) => taskRunId)).toEqual(
        verdicts.filter(([, verdict]) => verdict === "ADMITTED").map(([taskRunId]) => taskRunId),
      );
      expect([...plan.waiting].map(([taskRunId, { code }]) => [taskRunId, code])).toEqual(
        verdicts.filter(([, verdict]) => verdict !== "ADMITTED"),
      );
    });
  });

  it("never exceeds the limit of a run, a queue or a key by its own promotions", () => {
    always(anyWorld, (world, plan) => {
      for (const [scope, limit] of world.limits) {
        const more = admitted(world, plan).filter((one) => counts(one, scope)).length;
        const before = slotsOf(world, scope).length;
        if (limit > 0 && more > 0) expect(before + more).toBeLessThanOrEqual(limit);
      }
    });
  });

  it("never lets more start than a rate allows, nor a run have more than its share of AVAILABLE", () => {
    always(anyWorld, (world, plan) => {
      const gone = admitted(world, plan);
      for (const [rate, free] of world.freeStarts) {
        expect(gone.filter((one) => one.rate === rate).length).toBeLessThanOrEqual(free);
      }
      for (const runId of RUNS) {
        const more = gone.filter((one) => one.runId === runId).length;
        const before = world.active.filter(isAvailableOf(runId)).length;
        if (more > 0) expect(before + more).toBeLessThanOrEqual(world.share);
      }
    });
  });

  it("admits nobody who is stopped, paused, outside a window or without an executor", () => {
    always(anyWorld, (world, plan) => {
      expect(admitted(world, plan).filter((one) => ruleAgainst(one, world) !== null)).toEqual([]);
    });
  });

  it("never lets two hold a resource of which one wants it alone, nor anybody what is kept for another", () => {
    always(anyWorld, (world, plan) => {
      const holders: (Active | Pending)[] = [...world.active];
      for (const one of admitted(world, plan)) {
        for (const wish of one.resources) {
          expect(holders.filter((holder) => collides(holder, wish))).toEqual([]);
          expect([one.taskId, undefined]).toContain(world.reserved.get(wish.name));
        }
        holders.push(one);
      }
    });
  });

  it("gives each what it asked for, on slots that nobody else has", () => {
    always(anyWorld, (world, plan) => {
      const inUse = NAMES.flatMap((name) => {
        const sharers = world.active.filter((one) => wishFor(one, name)?.mode === "shared");
        return sharers.map((_, i) => `${name}#${i + 1}`);
      }).concat(
        [...world.limits.keys()].flatMap((scope) => slotsOf(world, scope).map((slot) => `${scope}#${slot}`)),
      );
      for (const { taskRunId, limitSlots, rateSlot, resourceSlots } of plan.promote) {
        const one = world.pending.find((row) => row.taskRunId === taskRunId);
        const limited = [...world.limits].filter(
          ([scope, limit]) => one && counts(one, scope) && (limit > 0 || !scope.startsWith("queue:")),
        );
        expect(limitSlots.map(({ scope }) => scope)).toEqual(limited.map(([scope]) => scope));
        expect(rateSlot?.rate ?? null).toBe(one?.rate);
        expect(resourceSlots.map(({ name, slot }) => [name, slot === 0])).toEqual(
          one?.resources.map(({ name, mode }) => [name, mode === "exclusive"]),
        );
        for (const { name, wasReserved } of resourceSlots) {
          expect(wasReserved).toBe(world.reserved.get(name) === one?.taskId);
        }
        for (const { scope, slot } of limitSlots) {
          expect(slot).toBeLessThan(world.limits.get(scope) || Number.POSITIVE_INFINITY);
        }
        inUse.push(...resourceSlots.map(({ name, slot }) => `${name}#${slot}`));
        inUse.push(...limitSlots.map(({ scope, slot }) => `${scope}#${slot}`));
        if (rateSlot !== null) inUse.push(`rate:${rateSlot.rate}#${rateSlot.slot}`);
      }
      expect(new Set(inUse).size).toBe(inUse.length);
    });
  });

  it("either admits a candidate or says why it waits", () => {
    always(anyWorld, (world, plan) => {
      const decided = [...plan.promote.map(({ taskRunId }) => taskRunId), ...plan.waiting.keys()];

      const asking = look(world).candidates.map(({ taskRunId }) => taskRunId);
      expect(decided.toSorted()).toEqual(asking.toSorted());
    });
  });

  it("names in each cause what really stands in the way", () => {
    always(anyWorld, (world, plan) => {
      for (const [taskRunId, cause] of plan.waiting) {
        const one = world.pending.find((row) => row.taskRunId === taskRunId);
        if (one) expectTruth(cause, one, world, admitted(world, plan));
      }
    });
  });

  it("lets nobody pass those ahead in the lines of their resources, in sight or not", () => {
    always(crowd, (world, plan) => {
      const stays = world.pending.filter(({ asks, inLine, taskRunId }) =>
        asks ? plan.waiting.get(taskRunId)?.code === "RESOURCE_BUSY" : inLine,
      );
      for (const one of admitted(world, plan)) {
        if (one.resources.some(({ name }) => world.reserved.get(name) === one.taskId)) continue;
        const passed = stays.filter(
          (other) => place(other) < place(one) && one.resources.some((wish) => collides(other, wish)),
        );
        expect(passed).toEqual([]);
      }
    });
  });

  it("never leaves the head of the whole line waiting when every gate is open to it", () => {
    always(anyWorld, (world, plan) => {
      const [head] = inOrder(world.pending);
      if (!head?.asks || world.pending.some((other) => isSmaller(other, head))) return;
      if (oracle({ ...world, pending: [head] }).get(head.taskRunId) !== "ADMITTED") return;

      expect(plan.promote[0]?.taskRunId).toBe(head.taskRunId);
    });
  });

  it("lets everybody through in the end: pass after pass, with what was admitted ended in between", () => {
    always(quietWorld, (world) => {
      let { pending, reserved } = world;
      // A pass may admit nobody when the only one in sight of a line turns out to wait for something else.
      for (let pass = 0; pass < 2 * world.pending.length; pass++) {
        const rest = { ...world, pending, reserved };
        const plan = planPromotions(look(rest));
        const gone = admitted(rest, plan);
        pending = pending
          .filter((one) => !gone.includes(one))
          .map((one) => ({ ...one, inLine: plan.waiting.get(one.taskRunId)?.code === "RESOURCE_BUSY" }));
        reserved = keptFor(pending, rest);
      }

      expect(pending).toEqual([]);
    });
  });
});

function expectTruth(cause: WaitingCause, one: Pending, world: World, more: readonly Pending[]): void {
  const activeIn = (scope: LimitScope): number =>
    [...world.active, ...more].filter((row) => counts(row, scope)).length;
  const expectFull = (scope: LimitScope, told: { readonly limit: number; readonly active: number }): void => {
    expect(counts(one, scope)).toBe(true);
    expect(told).toMatchObject({ limit: world.limits.get(scope), active: activeIn(scope) });
    expect(told.active).toBeGreaterThanOrEqual(told.limit);
  };
  switch (cause.code) {
    case "RUN_AT":
      expect(cause.runAt > NOW && cause.runAt === one.runAt).toBe(true);
      return;
    case "STOPPED":
      expect(cause.taskId === one.taskId && world.stopped.has(one.taskId)).toBe(true);
      return;
    case "PAUSED":
      expect(world.paused.has(cause.scope)).toBe(true);
      return;
    case "NO_EXECUTOR":
      expect(cause.kind === one.kind && !world.served.has(one.kind)).toBe(true);
      return;
    case "WINDOW":
      expect(world.closed.has(cause.scope)).toBe(true);
      return;
    case "VERSION_ORDER": {
      const blocker = [...world.active, ...world.pending].find((row) => row.taskRunId === cause.blocker);
      expect(cause).toMatchObject({ version: one.version, blockerVersion: blocker?.version });
      expect(blocker && wishFor(blocker, cause.resource) && wishFor(one, cause.resource)).toBeDefined();
      expect(blocker && isSmaller(blocker, one)).toBe(true);
      return;
    }
    case "RUN_LIMIT":
      expectFull(`run:${cause.runId}`, cause);
      return;
    case "QUEUE_LIMIT":
      expectFull(`queue:${cause.queue}`, cause);
      return;
    case "KEY_LIMIT":
      expectFull(`key:${cause.concurrencyKey}`, cause);
      return;
    case "FAIR_SHARE": {
      const before = world.active.filter(isAvailableOf(cause.runId)).length;
      const available = before + more.filter(({ runId }) => runId === cause.runId).length;
      expect(cause).toEqual({ code: "FAIR_SHARE", runId: one.runId, share: world.share, available });
      expect(available).toBeGreaterThanOrEqual(world.share);
      return;
    }
    case "RATE_LIMIT":
      expect(cause.rate).toBe(one.rate);
      expect(more.filter(({ rate }) => rate === cause.rate)).toHaveLength(
        world.freeStarts.get(cause.rate) ?? Number.NaN,
      );
      return;
    case "NOT_EVALUATED":
      throw new Error("A pass has looked at it");
    case "RESOURCE_BUSY": {
      const wish = { name: cause.resource, mode: cause.mode };
      const ahead = world.pending.filter((other) => place(other) < place(one) && !more.includes(other));
      const rows = { held: [...world.active, ...more], line: ahead, reserved: [] }[cause.because];
      const blockers = rows.filter(({ taskRunId }) => cause.blockers.includes(taskRunId));
      const { lineGoesOn } = lookAtResource(world, cause.resource);
      const kept = world.reserved.get(cause.resource);
      const reservedFor = { held: null, line: null, reserved: kept }[cause.because];
      expect(one.resources).toContainEqual(wish);
      expect(cause.reservedFor).toBe(reservedFor);
      expect(cause.reservedFor).not.toBe(one.taskId);
      expect(blockers.filter((row) => collides(row, wish))).toHaveLength(cause.blockers.length);
      const atLeast = { held: 1, line: Number(!lineGoesOn), reserved: 0 }[cause.because];
      expect(blockers.length).toBeGreaterThanOrEqual(atLeast);
    }
  }
}
