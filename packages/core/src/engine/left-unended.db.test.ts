/**
 * Who comes while a resource is handed on, and is parked behind the version that ends at that moment: its end wakes nobody there. He is
 * looked at when the one who was handed the resource leaves it, also where that one has not ended.
 */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { holdersIn, parkingIn } from "../../test/look.ts";
import { runFirst, SILENCE, type Turning, version } from "../../test/turning-worker.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** The first has handed the resource to the second, and before that was committed a pass parked this one behind the first. */
async function comeMeanwhile(turning: Turning, no: string): Promise<TaskRunId> {
  const { worker, pool, scheduler } = turning;
  const pause = pool.pauseBefore("COMMIT");
  worker.end(SILENCE);
  const settled = worker.settleOnce();
  await pause.reached;
  const { taskRunId } = await scheduler.enqueue(version(9, { version: no }));
  await scheduler.promote();
  expect(await parkingIn(box, taskRunId)).toBe("VERSION_ORDER orders");
  pause.resume();
  await settled;
  await scheduler.promote();
  return taskRunId;
}

async function handBack({ worker, pool }: Turning): Promise<void> {
  const claims = worker.held.all().map(({ claim }) => claim);
  await pool.transaction(async (tx) => await handBackTaskRuns(tx, worker.instanceId, claims));
}

async function defer({ worker }: Turning): Promise<void> {
  worker.end({ kind: "deferred", delayMs: 3_600_000, reason: "later" });
  await worker.settleOnce();
}

describe.each([
  ["in the turn of its line", Number.POSITIVE_INFINITY],
  ["by a hand-off", Number.NEGATIVE_INFINITY],
])("who came while a resource was handed on %s", (_, turnEndsAtMs) => {
  async function handedOn(): Promise<Turning> {
    return await runFirst(box, [version(1), version(2)], { turnEndsAtMs });
  }
  async function takeSecond({ worker, second }: Turning): Promise<void> {
    if ((await box.statusOf(second)) === "AVAILABLE") await worker.claim();
    expect(await box.statusOf(second)).toBe("RUNNING");
  }

  it("with a smaller version goes when the one who got it is handed back", async () => {
    const turning = await handedOn();
    const smaller = await comeMeanwhile(turning, "1.5");
    await takeSecond(turning);

    await handBack(turning);
    await turning.scheduler.promote();

    expect(await holdersIn(box, "resource:orders")).toEqual([smaller]);
    expect(await parkingIn(box, turning.second)).toBe("VERSION_ORDER orders");
  });

  it.each(["1.5", "2"])("with version %s goes when the one who got it is deferred", async (no) => {
    const turning = await handedOn();
    const came = await comeMeanwhile(turning, no);
    await takeSecond(turning);

    await defer(turning);
    await turning.scheduler.promote();

    expect(await holdersIn(box, "resource:orders")).toEqual([came]);
  });
});

it.each(["1.5", "2"])(
  "who came with version %s while a resource was handed on goes when the one who got it is sent back to PENDING",
  async (no) => {
    const turning = await runFirst(box, [version(1), version(2)], { turnEndsAtMs: Number.NEGATIVE_INFINITY });
    const { scheduler, second } = turning;
    const came = await comeMeanwhile(turning, no);
    expect(await box.statusOf(second)).toBe("AVAILABLE");

    await scheduler.putStop((await scheduler.get(second)).taskId, "APPROVAL");
    await scheduler.promote();

    expect(await holdersIn(box, "resource:orders")).toEqual([came]);
  },
);
