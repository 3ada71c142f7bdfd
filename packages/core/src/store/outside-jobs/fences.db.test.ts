/** Whoever does not have a task run changes nothing about it and its outside job, whatever it believes to have. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { cloud, HOUR_MS, outside, outsideSteps, resetOutside, step } from "../../../test/outside-job.ts";
import { leaveOpen } from "../../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../../test/wait-until.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";
import type { Transaction } from "../database.ts";
import type { ClaimRequest } from "../task-runs/claim.ts";
import { type JobClaim, keepHandle, letGoTaskRuns, returnOutsideJobs } from "./let-go.ts";
import { takeOutsideJobs } from "./take.ts";

const box = await openFixture(inject("adminUrl"));
beforeEach(resetOutside);
afterEach(box.clear);
afterAll(box.close);
const { open, start, due } = outsideSteps(box);

/** All that the acts could change. */
async function stored(): Promise<unknown> {
  return {
    taskRuns: await box.query("SELECT * FROM signalbox.task_run ORDER BY id"),
    jobs: await box.query("SELECT * FROM signalbox.outside_job ORDER BY task_run_id"),
    events: await box.query("SELECT * FROM signalbox.event_store ORDER BY aggregate_id, aggregate_version"),
  };
}

function claimOf(scheduler: ManualScheduler): JobClaim {
  const [held] = scheduler.held.all();
  if (held === undefined) throw new Error("It holds nothing");
  return { ...held.claim, claimedBy: scheduler.instanceId };
}

/** It runs one itself, and nothing is outside yet. */
async function runs(scheduler: ManualScheduler): Promise<JobClaim> {
  await scheduler.enqueue(cloud.task(null));
  await scheduler.claim();
  return claimOf(scheduler);
}

/** It has taken one that was let go, to ask for it. */
async function asks(scheduler: ManualScheduler): Promise<JobClaim> {
  await start(scheduler);
  await due();
  await scheduler.poll();
  return claimOf(scheduler);
}

/** The claim under which it has recorded the end of one. */
async function hasEnded(scheduler: ManualScheduler): Promise<JobClaim> {
  const claim = await asks(scheduler);
  outside.answer = { kind: "succeeded" };
  await step(scheduler);
  expect(await box.statusOf(claim.taskRunId)).toBe("DONE");
  return claim;
}

/** In the name of a claim; true: it says that it was done. */
type Act = (tx: Transaction, claim: JobClaim) => Promise<boolean>;
const JOB = { handle: "another", pollInMs: 0, deadlineInMs: HOUR_MS };
const keep: Act = async (tx, claim) => await keepHandle(tx, claim, JOB);
const letGo: Act = async (tx, claim) => (await letGoTaskRuns(tx, [{ ...claim, job: JOB }])).size === 1;
const giveBack: Act = async (tx, claim) =>
  (await returnOutsideJobs(tx, [{ ...claim, pollInMs: 0, how: "lost" }])).size === 1;

async function attempt(act: Act, claim: JobClaim): Promise<boolean> {
  return await box.pool("act").transaction(async (tx) => await act(tx, claim));
}

async function expectNoChange(act: Act, claim: JobClaim): Promise<void> {
  const before = await stored();
  expect(await attempt(act, claim)).toBe(false);
  expect(await stored()).toEqual(before);
}

async function expectFencedByNumber(act: Act, { claimNo, ...claim }: JobClaim): Promise<void> {
  await expectNoChange(act, { ...claim, claimNo: claimNo - 1 });
  expect(await attempt(act, { ...claim, claimNo })).toBe(true);
}

async function expectFencedByOwner(act: Act, claim: JobClaim): Promise<void> {
  const other = await open("other");
  await expectNoChange(act, { ...claim, claimedBy: other.instanceId });
  expect(await attempt(act, claim)).toBe(true);
}

describe("a handle", () => {
  it("is not kept under an old claim number of the same owner", async () => {
    await expectFencedByNumber(keep, await runs(await open()));
  });

  it("is not kept in the name of another owner, under the right number", async () => {
    await expectFencedByOwner(keep, await runs(await open()));
  });

  it("does not take the place of the one that somebody asks by", async () => {
    await expectFencedByOwner(keep, await asks(await open()));
  });

  it("is not kept for what has ended under this very claim", async () => {
    await expectNoChange(keep, await hasEnded(await open()));
  });
});

describe("a task run", () => {
  it("is not let go under an old claim number of the same owner", async () => {
    await expectFencedByNumber(letGo, await runs(await open()));
  });

  it("is not let go in the name of another owner, under the right number", async () => {
    await expectFencedByOwner(letGo, await runs(await open()));
  });

  it("is not let go that has ended under this very claim", async () => {
    await expectNoChange(letGo, await hasEnded(await open()));
  });
});

describe("an outside job", () => {
  it("is not returned under an old claim number of the same owner", async () => {
    await expectFencedByNumber(giveBack, await asks(await open()));
  });

  it("is not returned in the name of another owner, under the right number", async () => {
    await expectFencedByOwner(giveBack, await asks(await open()));
  });

  it("is not returned where there is none: nobody would ever ask", async () => {
    await expectNoChange(giveBack, await runs(await open()));
  });
});

describe("an outside job that somebody asks for", () => {
  const request = ({ instanceId }: ManualScheduler): ClaimRequest => ({
    instanceId,
    kinds: ["cloud"],
    freeSlots: 5,
    requestNo: 1,
  });

  /** No act leaves a row like this, the taking puts its next poll off for ever; a hand that repairs might. */
  async function dueThough(): Promise<void> {
    await box.query("UPDATE signalbox.outside_job SET next_poll_at = clock_timestamp()");
  }

  it("is not taken from it though it is due", async () => {
    const [one, other] = [await open(), await open("other")];
    await asks(one);
    await dueThough();
    const before = await stored();

    expect(await other.poll()).toEqual([]);

    expect(await stored()).toEqual(before);
  });

  it("is not even locked by another that looks for due ones", async () => {
    const [one, other] = [await open(), await open("other")];
    const { taskRunId } = await asks(one);
    await dueThough();
    const taking = await leaveOpen(
      box.pool("taker"),
      async (tx) => await takeOutsideJobs(tx, request(other)),
    );

    const free = await box.query("SELECT id FROM signalbox.task_run WHERE id = $1 FOR UPDATE SKIP LOCKED", [
      taskRunId,
    ]);
    await taking.commit();

    expect(free).toEqual([{ id: taskRunId }]);
  });

  it("is not taken by one that had seen it due before", async () => {
    const [one, other] = [await open(), await open("other")];
    const taskRunId = await start(one);
    await due();
    await stopTakingAfterItsSnapshot("late");
    const late = box.pool("late").transaction(async (tx) => await takeOutsideJobs(tx, request(other)));
    await waitUntilBlocked(box.db.client, "late");

    expect(await one.poll()).toEqual([taskRunId]);
    await box.query("SELECT pg_advisory_unlock(1)");

    expect(await late).toEqual([]);
    expect(await one.get(taskRunId)).toMatchObject({ claimedBy: one.instanceId });
  });

  /** What is due is read by a snapshot that is old when the row is locked. Held up in between, where the lease is read. */
  async function stopTakingAfterItsSnapshot(applicationName: string): Promise<void> {
    await box.query("SELECT pg_advisory_lock(1)");
    await box.query("ALTER FUNCTION signalbox.current_timeline() RENAME TO timeline_at_once");
    await box.query(`
      CREATE FUNCTION signalbox.current_timeline() RETURNS integer LANGUAGE plpgsql AS $$
      BEGIN
        IF current_setting('application_name') = '${applicationName}' THEN PERFORM pg_advisory_xact_lock(1); END IF;
        RETURN signalbox.timeline_at_once();
      END $$`);
    onTestFinished(async () => {
      await box.query("DROP FUNCTION signalbox.current_timeline()");
      await box.query("ALTER FUNCTION signalbox.timeline_at_once() RENAME TO current_timeline");
    });
  }
});
