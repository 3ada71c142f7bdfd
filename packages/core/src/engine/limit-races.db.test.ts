/** A limit that is changed and a settlement of its run at the same moment. What it does to a pass is in store/runs/limit.db.test.ts. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { changeLimit, SUCCESS, settleAll } from "../../test/acts.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

describe("a changed limit and a settlement at the same moment", () => {
  async function runOfFour() {
    const scheduler = await box.scheduler({ slots: 1 });
    const { runId, taskRuns } = await scheduler.enqueueMany(
      [1, 2, 3, 4].map((n) => echo.task(n)),
      { run: { title: "nightly", limit: 2 } },
    );
    if (runId === null) throw new Error("No run");
    await scheduler.promote();
    await scheduler.claim();
    return { scheduler, runId, taskRuns };
  }
  const limitAndOpen = async (): Promise<readonly unknown[]> =>
    await box.query("SELECT task_limit, open_tasks FROM signalbox.run");

  it("settlement first: the lowered limit waits for it, and the slot that it freed is given to nobody", async () => {
    const { scheduler, runId } = await runOfFour();
    const settling = box.pool("settler");
    const pause = settling.pauseBefore("COMMIT");

    const settled = settleAll(scheduler, SUCCESS)(settling);
    await pause.reached;
    const lowered = changeLimit(runId, 1)(box.pool("lowering"));
    await waitUntilBlocked(box.db.client, "lowering");
    pause.resume();
    await Promise.all([settled, lowered]);

    expect(await limitAndOpen()).toEqual([{ task_limit: 1, open_tasks: 3 }]);
    expect(await scheduler.promote()).toMatchObject({ kind: "passed", promoted: [] });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("limit first: the settlement waits for it, and the raised limit lets in as many as fit", async () => {
    const { scheduler, runId, taskRuns } = await runOfFour();
    const raising = box.pool("raising");
    const pause = raising.pauseBefore("COMMIT");

    const raised = changeLimit(runId, 3)(raising);
    await pause.reached;
    const settled = settleAll(scheduler, SUCCESS)(box.pool("settler"));
    await waitUntilBlocked(box.db.client, "settler");
    // Neither the pass nor the settlement goes by a limit that is not committed.
    expect(await scheduler.promote()).toEqual({ kind: "lock_missed" });
    pause.resume();
    await Promise.all([raised, settled]);

    expect(await limitAndOpen()).toEqual([{ task_limit: 3, open_tasks: 3 }]);
    expect(await scheduler.promote()).toMatchObject({
      promoted: taskRuns.slice(2).map(({ taskRunId }) => taskRunId),
    });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});
