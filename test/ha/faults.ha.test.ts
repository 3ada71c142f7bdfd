/** One fault at a time, each in the middle of what it is meant to disturb. */

import { exclusive } from "@signalbox/core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Instance } from "./instance.ts";
import { INSTANCE_SETTINGS, type WorkInput, type WorkKind } from "./instance-messages.ts";
import { type OwnPostgres, startOwnPostgres } from "./own-postgres.ts";
import { randomFrom } from "./random.ts";
import { openRig, type Rig } from "./rig.ts";
import { requireTaken } from "./sometimes.ts";
import { takeLock } from "./take-lock.ts";
import { claimUnseen, proveEveryLoopTurns } from "./turning.ts";
import { until } from "./until.ts";
import { hasDone, isDead, nextAttempts, rescued, someoneWhoRuns } from "./what-became.ts";

const { leaseMs, graceMs } = INSTANCE_SETTINGS;
/** A lease, a grace, and a few seconds for a busy machine. */
const TAKE_OVER_MS = leaseMs + graceMs + 5_000;
/** A session that is silent for longer inside a transaction is ended. */
const FROZEN_TRANSACTION_MS = 5_000;
const WITHIN_MS = 60_000;
const seed = Number(process.env["SIGNALBOX_HA_SEED"] ?? Date.now() % 1_000_000);

let postgres: OwnPostgres;
let rig: Rig;

beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterAll(async () => {
  await postgres?.remove();
});
beforeEach(async () => {
  rig = await openRig(postgres, randomFrom(seed));
});
afterEach(async () => {
  await rig?.close();
});

it("rescues what a killed instance ran, elsewhere and in time", async () => {
  const { instance, bootId, lost, killedAtUs } = await until(
    "an instance is killed with a claim on its way",
    killWithAClaimOnItsWay,
    { withinMs: WITHIN_MS },
  );

  const next = await until("their next attempts have ended", async () => await nextAttempts(rig, lost), {
    withinMs: WITHIN_MS,
  });
  expect(next.map(({ status }) => status)).toEqual(lost.map(() => "DONE"));
  const starts = (await rig.trace()).filter(
    ({ taskRunId, what }) => what === "start" && next.some((each) => each.taskRunId === taskRunId),
  );
  expect(starts.map(({ pid }) => pid)).not.toContain(instance.pid);
  const takeOverMs = Math.round((Math.max(...starts.map(({ us }) => us)) - killedAtUs) / 1_000);
  expect(takeOverMs).toBeLessThan(TAKE_OVER_MS);
  const left = await rig.db.query(
    "SELECT FROM signalbox.task_run WHERE status = 'RUNNING' AND claimed_by = $1",
    [bootId],
  );
  expect(left.rowCount).toBe(0);

  const fresh = await rig.cluster.add();
  await until("the fresh instance works", () => fresh.count("task_run.settled") > 0, { withinMs: WITHIN_MS });
  await endWell(
    "killed",
    { rescued: rig.cluster.count("task_run.rescued") },
    `taken over after ${takeOverMs} ms`,
  );
});

it("refuses the result of an instance that was frozen beyond its lease, and takes it back under a new boot id", async () => {
  const taskRunIds = await enqueueForAll("stubborn", { ms: leaseMs });
  const { instance, ran } = await someoneWhoRuns(rig, taskRunIds);
  const [lostBootId] = instance.bootIds;

  const frozenAtMs = performance.now();
  instance.freeze();
  const next = await until("what it ran is rescued", async () => await rescued(rig, ran), {
    withinMs: WITHIN_MS,
  });
  const rescuedMs = Math.round(performance.now() - frozenAtMs);
  expect(next.length).toBe(ran.length);
  // It is in the middle of what it ran, and past its end as soon as it wakes.
  instance.wake();
  const wokenAtMs = performance.now();

  await until(
    "its results are refused",
    () => {
      const refused = new Set<string>(instance.told("task_run.refused").map(({ taskRunId }) => taskRunId));
      return ran.every((taskRunId) => refused.has(taskRunId));
    },
    { withinMs: WITHIN_MS },
  );
  expect(instance.told("instance.fenced").map(({ instanceId }) => instanceId)).toEqual([lostBootId]);
  const bootId = await until("it is back", () => instance.bootId ?? false, { withinMs: WITHIN_MS });
  const backMs = Math.round(performance.now() - wokenAtMs);
  expect(bootId).not.toBe(lostBootId);
  await until("it works again", async () => await hasDone(rig, bootId), { withinMs: WITHIN_MS });
  const refused = instance.count("task_run.refused");
  await endWell(
    "frozen",
    { rescued: rig.cluster.count("task_run.rescued"), refused, fenced: rig.cluster.count("instance.fenced") },
    `rescued after ${rescuedMs} ms, ${refused} results refused, back after ${backMs} ms`,
  );
});

it("rescues what an instance was settling when it was frozen inside its transaction", async () => {
  const input: WorkInput = { ms: 800 };
  const { taskRunId } = await rig.scheduler.enqueue({ kind: "work", input, resources: [exclusive("vault")] });
  await someoneWhoRuns(rig, [taskRunId]);
  const lock = await takeLock(rig, "SELECT FROM signalbox.resource_use WHERE name = 'vault' FOR UPDATE");
  const instance = await lock.waiter();

  const frozenAtMs = performance.now();
  instance.freeze();
  await lock.release();
  const [next] = await until("the next attempt has ended", async () => await nextAttempts(rig, [taskRunId]), {
    withinMs: WITHIN_MS,
  });
  const takeOverMs = Math.round(performance.now() - frozenAtMs);
  instance.wake();

  expect(next?.status).toBe("DONE");
  expect(takeOverMs).toBeLessThan(FROZEN_TRANSACTION_MS + 5_000);
  await until(
    "its result is refused",
    () => instance.told("task_run.refused").some((event) => event.taskRunId === taskRunId),
    { withinMs: WITHIN_MS },
  );
  await endWell(
    "frozen while it settled",
    { rescued: rig.cluster.count("task_run.rescued"), refused: instance.count("task_run.refused") },
    `taken over after ${takeOverMs} ms`,
  );
});

it("promotes on when a promoter was frozen with the gate lock", async () => {
  const input: WorkInput = { ms: 10 };
  // Nobody comes to it before it is locked, and then only a promoter.
  await rig.scheduler.pause({ queue: "until it is locked" });
  const { taskRunId } = await rig.scheduler.enqueue({ kind: "work", input, queue: "until it is locked" });
  const lock = await takeLock(rig, `SELECT FROM signalbox.task_run WHERE id = '${taskRunId}' FOR UPDATE`);
  await rig.scheduler.resume({ queue: "until it is locked" });
  const instance = await lock.waiter();

  const frozenAtMs = performance.now();
  instance.freeze();
  await lock.release();
  await until("it is done", async () => (await rig.scheduler.get(taskRunId)).status === "DONE", {
    withinMs: WITHIN_MS,
  });
  const stalledMs = Math.round(performance.now() - frozenAtMs);
  instance.wake();

  // Its lock is free after two seconds; the rows of a settlement that was frozen with it after five.
  expect(stalledMs).toBeLessThan(FROZEN_TRANSACTION_MS + 5_000);
  await until("its pass fails", () => instance.told("loop.failed").some(({ loop }) => loop === "promoter"), {
    withinMs: WITHIN_MS,
  });
  await endWell(
    "promoter frozen",
    { "lock missed": rig.cluster.count("gate.lock_missed") },
    `stalled ${stalledMs} ms`,
  );
});

it("goes on after PostgreSQL was restarted, and after it was away for longer than a lease", async () => {
  const pids = rig.cluster.running.map(({ pid }) => pid);

  const fastMs = await postgres.restart("fast");
  await proveEveryLoopTurns(rig, rig.cluster.running);
  const fencedBefore = rig.cluster.count("instance.fenced");
  const immediateMs = await postgres.restart("immediate", async () => {
    await until(
      "every instance gives up its lease",
      () => rig.cluster.running.every(({ bootId }) => bootId === null),
      {
        withinMs: WITHIN_MS,
      },
    );
  });
  const upAtMs = performance.now();
  await until("every instance is back", () => rig.cluster.running.every(({ bootId }) => bootId !== null), {
    withinMs: WITHIN_MS,
  });
  const backMs = Math.round(performance.now() - upAtMs);

  expect(rig.cluster.all.map(({ unexpectedEnd }) => unexpectedEnd)).toEqual(pids.map(() => null));
  await endWell(
    "PostgreSQL restarted",
    {
      "failed passes": rig.cluster.count("loop.failed"),
      fenced: rig.cluster.count("instance.fenced") - fencedBefore,
    },
    `fast ${Math.round(fastMs)} ms (fenced ${fencedBefore}), immediate ${Math.round(immediateMs)} ms, all back ${backMs} ms later`,
  );
});

/** More than one instance can take, so that each gets some. First in line. */
async function enqueueForAll(kind: WorkKind, input: WorkInput): Promise<readonly string[]> {
  const specs = Array.from({ length: 15 }, () => ({ kind, input, priority: 0 }));
  const { taskRuns } = await rig.scheduler.enqueueMany(specs);
  return taskRuns.map(({ taskRunId }) => taskRunId);
}

/** Its last claim is on its way while it dies, and commits when the others have found it dead. Null: it may not claim. */
async function killWithAClaimOnItsWay(): Promise<{
  readonly instance: Instance;
  readonly bootId: string;
  readonly lost: readonly string[];
  readonly killedAtUs: number;
} | null> {
  const { instance, ran } = await someoneWhoRuns(rig, await enqueueForAll("work", { ms: 1_500 }));
  const { bootId } = instance;
  // It may have lost its lease before there is anything to kill.
  if (bootId === null) return null;
  let killedAtUs = 0;
  const late = await claimUnseen(rig, bootId, async () => {
    killedAtUs = nowUs();
    await instance.kill();
    await until("it is found dead", async () => await isDead(rig, bootId), { withinMs: WITHIN_MS });
  });
  return late === null ? null : { instance, bootId, lost: [...ran, late], killedAtUs };
}

async function endWell(
  what: string,
  sometimes: Readonly<Record<string, number>>,
  shown: string,
): Promise<void> {
  const { summary } = await rig.settleDown();
  requireTaken(sometimes);
  process.stdout.write(`HA ${what} (seed ${seed}): ${shown}; ${summary}\n`);
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
