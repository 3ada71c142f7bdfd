/** A success with an output whose slot goes on: the output is stored with the end, once, and only under the claim that it came from. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { SUCCESS } from "../../test/acts.ts";
import { openFaultProxy } from "../../test/fault-proxy.ts";
import { openFixture } from "../../test/fixture.ts";
import { runFirst, version } from "../../test/turning-worker.ts";
import { exclusive } from "../domain/resource.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const outputs = async (): Promise<readonly unknown[]> =>
  await box.query("SELECT task_run_id, output, error FROM signalbox.task_run_result ORDER BY task_run_id");

it("stores what it came to in the transaction of its end, and goes on", async () => {
  const { worker, ids, second } = await runFirst(box, [version(1), version(2)]);
  worker.end(SUCCESS);

  await worker.settleOnce();

  expect(worker.sent).toEqual(["goOnInLines", "storeOutputsOfDone"]);
  expect(worker.begun.map(({ taskRunId }) => taskRunId)).toEqual([second]);
  expect(await outputs()).toEqual([{ task_run_id: ids[0], output: 1, error: null }]);
});

it("stores that of those that do not go on once, with their own end", async () => {
  const { worker, ids, pool } = await runFirst(box, [
    version(1),
    version(2),
    version(1, { resources: [exclusive("users")] }),
  ]);
  const pause = pool.pauseBefore("settleTaskRuns");
  worker.end(SUCCESS);

  const settled = worker.settleOnce();
  await pause.reached;
  expect(await outputs()).toEqual([{ task_run_id: ids[0], output: 1, error: null }]);
  pause.resume();
  await settled;

  expect(await outputs()).toHaveLength(2);
  expect(await box.statusOf(ids[2] ?? "")).toBe("DONE");
});

it("knows what it has stored where the answer was lost", async () => {
  const proxy = await openFaultProxy(box.db.url);
  const { worker, ids } = await runFirst(box, [version(1), version(2)], { url: proxy.url });
  worker.end(SUCCESS);
  const cut = proxy.cutAfterCommit();
  await expect(worker.settleOnce()).rejects.toThrow(/terminated/);
  await cut;
  const before = worker.sent.length;

  await expect(worker.settleOnce()).resolves.toMatchObject({ left: 0 });

  const sent = worker.sent.slice(before);
  expect(sent).toContain("storeOutputsOfDone");
  expect(sent).not.toContain("storeOutputsOfDone failed");
  expect(await outputs()).toEqual([{ task_run_id: ids[0], output: 1, error: null }]);
  expect(worker.events).toMatchObject([{ type: "task_run.settled", taskRunId: ids[0], status: "DONE" }]);
  await proxy.close();
});

it.each([
  ["under another claim", "claim_no = claim_no + 1000"],
  ["by another instance", "claimed_by = gen_random_uuid()"],
])("stores nothing of what has been done meanwhile %s", async (_, change) => {
  const { worker, ids } = await runFirst(box, [version(1), version(2)]);
  await box.query(
    `UPDATE signalbox.task_run SET status = 'DONE', outcome = 'SUCCEEDED', finished_at = now(), ${change} WHERE id = $1`,
    [ids[0]],
  );
  worker.end(SUCCESS);

  await worker.settleOnce();

  expect(worker.sent).toContain("storeOutputsOfDone");
  expect(await outputs()).toEqual([]);
});

it("that no second try will store fails its task run, and keeps nobody waiting", async () => {
  const { worker, scheduler, ids, second } = await runFirst(box, [version(1), version(2)]);
  worker.end({ kind: "succeeded", output: "a\u0000b" });

  await expect(worker.settleOnce()).resolves.toMatchObject({ left: 0, freesSlots: true });

  expect(await scheduler.get(ids[0])).toMatchObject({ status: "FAILED", outcome: "RESULT_NOT_STORABLE" });
  expect(worker.begun).toEqual([]);
  expect(await box.statusOf(second)).toBe("AVAILABLE");
});
