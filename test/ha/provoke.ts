/** What makes an instance come by an act, so that it can be killed there. */

import { randomUUID } from "node:crypto";
import {
  exclusive,
  type InstanceId,
  type OperationRequest,
  type Scheduler,
  shared,
  type TaskId,
  type TaskSpec,
} from "@signalbox/core";
import type { Instance } from "./instance.ts";
import type { WorkInput } from "./instance-messages.ts";
import type { ActName } from "./kill-points.ts";
import { KEY_PREFIX, STARTS } from "./load.ts";
import { callAllBack } from "./load-rules.ts";
import {
  aProcess,
  deferring,
  keptHandle,
  outside,
  QUEUE,
  RATE,
  STOP_CODE,
  STOPPED_TAG,
  work,
} from "./load-work.ts";
import { loseOutsideJob, loseWork } from "./lost-instance.ts";
import { putOldWork } from "./old-work.ts";
import { tellsOutage } from "./outage.ts";
import type { Random } from "./random.ts";
import type { Rig } from "./rig.ts";
import { brokenLine } from "./tolerated.ts";
import { claimUnseen } from "./turning.ts";
import { until } from "./until.ts";
import { whoRuns } from "./what-became.ts";

export interface Provocation {
  /**
   * Who is to come by: `anyone` is for what is done by whoever is first; `a fresh one` has the point from its first
   * statement on; `one` is told to come by itself, or does so all the time.
   */
  readonly who: "one" | "anyone" | "a fresh one";
  /** `one` is who is to come by, also the fresh one; null where anyone may. */
  readonly by: (rig: Rig, random: Random, one: Instance | null) => Promise<unknown>;
  /** It ends by this, also where it does not die of it. */
  readonly leaves?: true;
}

const WITHIN_MS = 8_000;

export const PROVOCATIONS: Record<ActName, Provocation> = {
  "an enqueue": acts(async (_rig, random, act) => await act("enqueueMany", [work(random), later(random)])),
  "an enqueue of one ungated task": acts(async (_rig, random, act) => await act("enqueue", work(random))),
  "an enqueue of many ungated tasks": acts(
    async (_rig, random, act) => await act("enqueueMany", [work(random), work(random)]),
  ),
  "an enqueue under a key": acts(async (rig, random, act) => {
    const key = `${KEY_PREFIX}killed-${random.between(0, 2 ** 31)}`;
    const spec = work(random, { title: key });
    await act("enqueueMany", [spec], { idempotencyKey: key });
    // It may have happened or not: asked again, it has happened once.
    rig.load.askAgain(key, { specs: [spec] });
  }),
  "a cancel": acts(async (rig, random, act) => {
    const [taskId] = await enqueued(rig, [later(random)]);
    await act("cancel", taskId);
  }),
  "a bulk cancel": acts(async (rig, random, act) => {
    const ids = await enqueued(
      rig,
      [1, 2, 3].map(() => later(random)),
    );
    await act("cancelMany", { ids });
  }),
  "a retry by hand": acts(async (rig, random, act) => {
    const [taskId = ""] = await enqueued(rig, [later(random)]);
    await rig.scheduler.cancel(taskId);
    await act("retry", taskId);
  }),
  "a deferral by hand": acts(async (rig, random, act) => {
    const [taskId = ""] = await enqueued(rig, [later(random)]);
    await act("defer", taskId, { delayMs: 2_500 });
  }),
  "the start of an operation": acts(async (rig, random, act) => {
    await act("startOperation", await cancelOf(rig, random));
  }),
  "a bite of an operation": {
    who: "anyone",
    by: async (rig, random) => await rig.scheduler.startOperation(await cancelOf(rig, random)),
  },
  "an abort of an operation": acts(async (rig, random, act) => {
    const { operationId } = await rig.scheduler.startOperation(await cancelOf(rig, random));
    await act("abortOperation", operationId);
  }),
  "the gate lock": busy("one"),
  "a promotion": busy("one"),
  "the parking": { who: "anyone", by: async (rig) => await enqueued(rig, atOneResource()) },
  "a refusal of a late version": { who: "anyone", by: refuseLate },
  "a demotion": acts(demoteCrowd),
  "a claim": busy("one"),
  "a claim of few": busy("one"),
  "a settlement": busy("one"),
  "a settlement of successes": {
    who: "anyone",
    by: async (rig) => {
      const input: WorkInput = { ms: 5, silent: true };
      await enqueued(rig, [{ kind: "work", input, priority: 0 }]);
    },
  },
  // Each takes longer than the turn of its line.
  "a hand-off": { who: "anyone", by: async (rig) => await enqueued(rig, versions(3, { ms: 120 })) },
  // So many that each instance asks for who is next, also where all have asked in vain for long.
  "a turn of a line": {
    who: "anyone",
    by: async (rig) => await enqueued(rig, versions(50, { ms: 1, silent: true })),
  },
  "a settlement by the lease's thread": {
    who: "anyone",
    by: async (rig) => {
      const input: WorkInput = { ms: 2_000 };
      await enqueued(rig, [{ kind: "blocking", input, timeouts: { runningMs: 50 }, priority: 0 }]);
    },
  },
  "a deferral": several(deferring),
  "a kept handle": several(keptHandle),
  "a let-go": several(outside),
  "the taking of outside jobs": several(outside),
  "the return of a polled job": several(outside),
  "the resumption of a lost job": { who: "anyone", by: async (rig) => await loseOutsideJob(rig) },
  "the log": several(aProcess),
  "a renewal": { who: "one", by: async () => {} },
  "the reconciliation": { who: "one", by: async () => {} },
  "a hand-back": {
    who: "one",
    by: async (rig, _, one) => (one?.bootId ? await claimUnseen(rig, one.bootId) : null),
  },
  "the search for the lost": { who: "one", by: async () => {} },
  "the search for gone neighbours": {
    who: "a fresh one",
    by: async ({ cluster }, random, one) => {
      await until("it is about to join", () => one?.clockAtStart !== null, {
        withinMs: WITHIN_MS,
        everyMs: 5,
      });
      // The lease of that one is good: only somebody who starts finds that its process is gone.
      await random.pick(cluster.running.filter((instance) => instance !== one)).kill();
      await one?.gone();
      await cluster.add();
    },
  },
  "a rescue": { who: "anyone", by: async (rig) => await loseWork(rig) },
  "the end of a rescue": { who: "one", by: async () => {} },
  "a queue timeout": {
    who: "anyone",
    by: async (rig, random) => {
      const stops = [{ code: STOP_CODE }];
      await enqueued(rig, [work(random, { stops, tags: [STOPPED_TAG], timeouts: { queuedMs: 50 } })]);
    },
  },
  "a deadline that was kept": {
    who: "anyone",
    by: async (rig) => {
      const input: WorkInput = { ms: 5 };
      await enqueued(rig, [{ kind: "work", input, timeouts: { queuedMs: 600 }, priority: 0 }]);
    },
  },
  "a prune": { who: "a fresh one", by: async ({ db }) => await putOldWork(db) },
  "the joining": { who: "a fresh one", by: async () => {} },
  "the draining": { who: "one", by: async (_rig, _random, one) => one?.leave(), leaves: true },
  "the leaving": { who: "one", by: async (_rig, _random, one) => one?.leave(), leaves: true },
  "a change of a queue": acts(async (_rig, _random, act) => await act("setQueue", QUEUE, { limit: 2 })),
  "a change of a key limit": acts(async (_rig, _random, act) => await act("setKeyLimit", "customer:*", 2)),
  "a change of a rate": acts(async (_rig, _random, act) => await act("setRate", RATE, STARTS)),
  "a change of a run limit": acts(async (rig, random, act) => {
    const run = { title: "its limit changes", limit: 1 };
    const { runId } = await rig.scheduler.enqueueMany([work(random), work(random)], { run });
    await act("setRunLimit", runId, 2);
  }),
  "a change of windows": acts(async (rig, _random, act) => {
    const from = new Date();
    rig.load.openLater(async () => await rig.scheduler.setWindows({ queue: QUEUE }, []));
    const windows = [{ kind: "freeze", from, until: new Date(from.getTime() + 1_000) }];
    await act("setWindows", { queue: QUEUE }, windows);
  }),
  "a pause": acts(async (rig, _random, act) => {
    rig.load.openLater(async () => await rig.scheduler.resume({ queue: QUEUE }));
    await act("pause", { queue: QUEUE });
  }),
  "the end of a recall": acts(demoteCrowd),
  "a stop": acts(async (rig, random, act) => {
    const [taskId] = await enqueued(rig, [later(random)]);
    // By its id: it may run by now, and wait only in its next attempt.
    if (taskId !== undefined)
      rig.load.openLater(async () => await rig.scheduler.takeOffStop(taskId, STOP_CODE));
    await act("putStop", taskId, STOP_CODE);
  }),
  "the end of a stop": acts(async (rig, random, act) => {
    const stops = [{ code: STOP_CODE }];
    // Without the tag: by that the load would find it and take it off before.
    const [taskId] = await enqueued(rig, [later(random, { stops })]);
    if (taskId !== undefined)
      rig.load.openLater(async () => await rig.scheduler.takeOffStop(taskId, STOP_CODE));
    await act("takeOffStop", taskId, STOP_CODE);
  }),
  "the release of a reservation": acts(releaseReserved),
  "a drain request": acts(async (rig, _random, act) => {
    const instanceId = await someoneLive(rig);
    rig.load.openLater(async () => await callAllBack(rig));
    await act("drainInstance", instanceId, { reason: "its host is looked after" });
  }),
  "the end of a drain request": acts(async (rig, _random, act) => {
    const instanceId = await someoneLive(rig);
    rig.load.openLater(async () => await callAllBack(rig));
    await rig.scheduler.drainInstance(instanceId);
    await act("callInstanceBack", instanceId);
  }),
};

type Call = (name: keyof Scheduler, ...args: readonly unknown[]) => Promise<void>;

/** A call from inside of the instance that is to die of it. */
function acts(by: (rig: Rig, random: Random, act: Call) => Promise<unknown>): Provocation {
  return {
    who: "one",
    by: async (rig, random, one) =>
      await by(rig, random, async (name, ...args) => {
        const problem = (await one?.act({ name, args }))?.problem ?? null;
        if (problem === null || tellsOutage(problem) || brokenLine(problem)) return;
        throw new Error(`${name} failed: ${problem.code} ${problem.message}`);
      }),
  };
}

async function someoneLive({ db }: Rig): Promise<InstanceId> {
  const { rows } = await db.query<{ id: InstanceId }>(
    "SELECT boot_id AS id FROM signalbox.instance WHERE state = 'LIVE' AND expires_at > clock_timestamp() ORDER BY random() LIMIT 1",
  );
  const id = rows[0]?.id;
  if (id === undefined) throw new Error("Nobody is LIVE");
  return id;
}

/** Something for every loop to come by. */
export function busy(who: Provocation["who"]): Provocation {
  const input: WorkInput = { ms: 30 };
  return {
    who,
    by: async (rig) => {
      const specs = Array.from({ length: 12 }, (_, index) => ({
        kind: "work",
        input,
        priority: 0,
        ...(index % 2 === 0 && { runAt: new Date(Date.now() + 100 * index) }),
      }));
      await enqueued(rig, specs);
    },
  };
}

function several(make: (random: Random) => TaskSpec): Provocation {
  return {
    who: "anyone",
    by: async (rig, random) =>
      await enqueued(
        rig,
        [1, 2, 3].map(() => ({ ...make(random), priority: 0, resources: [] })),
      ),
  };
}

async function enqueued({ scheduler }: Rig, specs: readonly TaskSpec[]): Promise<readonly TaskId[]> {
  return (await scheduler.enqueueMany(specs)).taskRuns.map(({ taskId }) => taskId);
}

function later(random: Random, options: Partial<TaskSpec> = {}): TaskSpec {
  return work(random, { runAt: new Date(Date.now() + 2_000), ...options });
}

/** Some that are open, and an operation that is about them. */
async function cancelOf(rig: Rig, random: Random): Promise<OperationRequest> {
  const tag = `operation ${randomUUID()}`;
  await enqueued(
    rig,
    [1, 2, 3].map(() => later(random, { tags: [tag] })),
  );
  return { verb: "cancel", filter: { tag } };
}

/** On a resource of their own. */
function versions(count: number, input: WorkInput): readonly TaskSpec[] {
  const resources = [exclusive(`handed on ${randomUUID()}`)];
  return Array.from({ length: count }, (_, index) => ({
    kind: "work",
    input,
    resources,
    version: `${index + 1}`,
    priority: 0,
  }));
}

function atOneResource(): readonly TaskSpec[] {
  const input: WorkInput = { ms: 50 };
  return [1, 2, 3].map(() => ({ kind: "work", input, priority: 0, resources: [exclusive("narrow gate")] }));
}

/** Below a version that is DONE. */
async function refuseLate(rig: Rig): Promise<void> {
  const input: WorkInput = { ms: 5 };
  const resources = [exclusive(`late/${performance.now()}`)];
  const [taskId = ""] = await enqueued(rig, [{ kind: "work", input, priority: 0, resources, version: "2" }]);
  await until("it is done", async () => (await rig.scheduler.get(taskId)).status === "DONE", {
    withinMs: WITHIN_MS,
  });
  await enqueued(rig, [{ kind: "work", input, resources, version: "1" }]);
}

/** More than there are slots for: whoever pauses what they share sends the rest back. */
async function demoteCrowd(rig: Rig, _random: Random, act: Call): Promise<void> {
  const resource = `crowded/${performance.now()}`;
  const input: WorkInput = { ms: 300 };
  const spec = { kind: "work", input, priority: 9, resources: [shared(resource)] };
  await enqueued(
    rig,
    Array.from({ length: 60 }, () => spec),
  );
  const isAvailable = async (): Promise<boolean> => {
    const { rowCount } = await rig.db.query(
      `SELECT FROM signalbox.hold AS h JOIN signalbox.task_run AS t ON t.id = h.task_run_id
        WHERE h.scope = 'resource:' || $1 AND t.status = 'AVAILABLE'`,
      [resource],
    );
    return rowCount !== 0;
  };
  await until("some of them are AVAILABLE", isAvailable, { withinMs: WITHIN_MS, everyMs: 20 });
  rig.load.openLater(async () => await rig.scheduler.resume({ resource }));
  await act("pause", { resource });
}

/** Of what somebody ran alone and was killed with. */
async function releaseReserved(rig: Rig, random: Random, act: Call): Promise<void> {
  const input: WorkInput = { ms: 2_500 };
  const name = `kept/${performance.now()}`;
  const spec = { kind: "work", input, priority: 0, resources: [exclusive(name)] };
  const { taskRunId } = await rig.scheduler.enqueue(spec);
  const { instance } = await until("it runs", async () => await whoRuns(rig, [taskRunId]), {
    withinMs: WITHIN_MS,
    everyMs: 20,
  });
  await instance.kill();
  await rig.cluster.add();
  const isKept = async (): Promise<boolean> => {
    const { rowCount } = await rig.db.query(
      "SELECT FROM signalbox.hold WHERE scope = 'resource:' || $1 AND reserved_for IS NOT NULL",
      [name],
    );
    return rowCount !== 0;
  };
  await until("its resource is kept", isKept, { withinMs: WITHIN_MS, everyMs: 20 });
  await act("releaseReservation", name, { reason: `as chance has it: ${random.next()}` });
}
