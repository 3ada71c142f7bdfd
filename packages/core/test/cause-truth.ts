/** What each waiting cause of a random world must tell, by counting its rows. */

import { expect } from "vitest";
import type { LimitScope } from "../src/domain/scope.ts";
import type { WaitingCause, WaitingCode } from "../src/domain/waiting-cause.ts";
import {
  collides,
  counts,
  isAvailableOf,
  isSmaller,
  isTooSmall,
  lookAtResource,
  NOW,
  type Pending,
  place,
  type World,
  wishFor,
} from "./gate-worlds.ts";

type Told<Code extends WaitingCode> = Extract<WaitingCause, { code: Code }>;

interface Seen {
  readonly one: Pending;
  readonly world: World;
  /** Whom the same pass has admitted before it. */
  readonly more: readonly Pending[];
}

/** That a cause names what really stands in the way. */
export function expectTruth(cause: WaitingCause, seen: Seen): void {
  const expectIt: (cause: never, seen: Seen) => void = TRUTHS[cause.code];
  expectIt(cause as never, seen);
}

const TRUTHS: { readonly [Code in WaitingCode]: (cause: Told<Code>, seen: Seen) => void } = {
  RUN_AT: ({ runAt }, { one }) => expect(runAt > NOW && runAt === one.runAt).toBe(true),
  STOPPED: ({ taskId }, { one, world }) =>
    expect(taskId === one.taskId && world.stopped.has(one.taskId)).toBe(true),
  PAUSED: ({ scope }, { world }) => expect(world.paused.has(scope)).toBe(true),
  NO_EXECUTOR: ({ kind }, { one, world }) =>
    expect(kind === one.kind && !world.served.has(one.kind)).toBe(true),
  WINDOW: ({ scope }, { world }) => expect(world.closed.has(scope)).toBe(true),
  OUT_OF_ORDER: ({ resource, version, doneVersion }, { one, world }) => {
    expect({ version, doneVersion }).toEqual({ version: one.version, doneVersion: world.done.get(resource) });
    expect(isTooSmall(one, world)).toBe(true);
  },
  VERSION_ORDER: expectVersionOrder,
  RUN_LIMIT: (cause, seen) => expectFull(`run:${cause.runId}`, cause, seen),
  QUEUE_LIMIT: (cause, seen) => expectFull(`queue:${cause.queue}`, cause, seen),
  KEY_LIMIT: (cause, seen) => expectFull(`key:${cause.concurrencyKey}`, cause, seen),
  FAIR_SHARE: expectFairShare,
  RATE_LIMIT: (cause, { one, world, more }) => {
    expect(cause.rate).toBe(one.rate);
    const started = more.filter(({ rate }) => rate === cause.rate);
    expect(started).toHaveLength(world.freeStarts.get(cause.rate) ?? Number.NaN);
  },
  NOT_EVALUATED: () => {
    throw new Error("A pass has looked at it");
  },
  RESOURCE_BUSY: expectBusy,
};

function expectFull(
  scope: LimitScope,
  told: { readonly limit: number; readonly active: number },
  { one, world, more }: Seen,
): void {
  const active = [...world.active, ...more].filter((row) => counts(row, scope)).length;
  expect(counts(one, scope)).toBe(true);
  expect(told).toMatchObject({ limit: world.limits.get(scope), active });
  expect(told.active).toBeGreaterThanOrEqual(told.limit);
}

function expectVersionOrder(cause: Told<"VERSION_ORDER">, { one, world }: Seen): void {
  const blocker = [...world.active, ...world.pending].find((row) => row.taskRunId === cause.blocker);
  expect(cause).toMatchObject({ version: one.version, blockerVersion: blocker?.version });
  expect(blocker && wishFor(blocker, cause.resource) && wishFor(one, cause.resource)).toBeDefined();
  expect(blocker && isSmaller(blocker, one)).toBe(true);
}

function expectFairShare(cause: Told<"FAIR_SHARE">, { one, world, more }: Seen): void {
  const before = world.active.filter(isAvailableOf(cause.runId)).length;
  const available = before + more.filter(({ runId }) => runId === cause.runId).length;
  expect(cause).toEqual({ code: "FAIR_SHARE", runId: one.runId, share: world.share, available });
  expect(available).toBeGreaterThanOrEqual(world.share);
}

function expectBusy(cause: Told<"RESOURCE_BUSY">, { one, world, more }: Seen): void {
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
