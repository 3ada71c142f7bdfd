import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { succeedTaskRuns } from "../store/task-runs/settle.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

describe("what came with one claim and ends together is forgotten as a batch", () => {
  /** Ends both of two that were claimed together, or tries to; answers which have ended. */
  async function endTwo(meanwhile: (first: TaskRunId) => Promise<unknown>): Promise<readonly TaskRunId[]> {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1), echo.task(2)]);
    await scheduler.claim();
    const claims = scheduler.held.all().map(({ claim }) => claim);
    const [first] = claims;
    if (first === undefined) throw new Error("Nothing was claimed");
    await meanwhile(first.taskRunId);
    return await box
      .pool("settler")
      .transaction(async (tx) => await succeedTaskRuns(tx, scheduler.instanceId, claims));
  }
  const batches = async (): Promise<number> => (await box.query("SELECT FROM signalbox.claim_batch")).length;

  it("with its end", async () => {
    expect(await endTwo(async () => {})).toHaveLength(2);

    expect(await batches()).toBe(0);
  });

  it("not where one of them goes on: whoever rescues would not find it", async () => {
    // As by the first limit of its queue.
    const gate = async (id: TaskRunId): Promise<unknown> =>
      await box.query("UPDATE signalbox.task_run SET gated = true WHERE id = $1", [id]);
    expect(await endTwo(gate)).toHaveLength(1);

    expect(await batches()).toBe(1);
  });
});
