/** What the lease's thread ends in the place of a main loop that is blocked. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { settle } from "../domain/settlement.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import type { HeldClaim } from "./held-claims.ts";
import { keepLease } from "./lease-keeper.ts";
import { type OverdueWatch, watchOverdue } from "./overdue-watch.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const timeouts = { runningMs: 1 };

async function claimed(inputs: readonly number[]): Promise<ManualScheduler> {
  const scheduler = await box.scheduler();
  await scheduler.enqueueMany(inputs.map((input) => echo.task(input, { timeouts })));
  await scheduler.claim();
  return scheduler;
}

it("one that cannot be settled hides none of the others, and is tried again", async () => {
  const scheduler = await claimed([1, 2, 3]);
  const [first, second, third] = scheduler.held.all().map(({ claim }) => claim.taskRunId);
  await box.query("INSERT INTO signalbox.task_run_result (task_run_id, output) VALUES ($1, '0')", [second]);
  const watch = watchOverdue(box.pool("lease"));
  for (const { claim } of scheduler.held.all()) {
    const settlement = settle({ kind: "stuck", message: "", interrupted: false }, claim.policy, claim, 0);
    watch.take({ watch: { ...claim, claimedBy: scheduler.instanceId, settlement, overdueAtMs: 0 } });
  }

  const { ended, failures } = await watch.endOverdue();

  expect(ended.map(({ taskRunId }) => taskRunId)).toEqual([first, third]);
  expect(failures).toMatchObject([{ code: "23505" }]);
  await box.query("DELETE FROM signalbox.task_run_result WHERE task_run_id = $1", [second]);
  expect((await watch.endOverdue()).ended).toMatchObject([{ taskRunId: second }]);
});

/** As the thread would watch it, on behalf of a lease that nobody renews. */
function watchedBy(scheduler: ManualScheduler, held: HeldClaim, obeyMs: number): OverdueWatch {
  const watch = watchOverdue(box.pool("lease"));
  const nothing = (): void => {};
  const lease = keepLease({
    instanceId: scheduler.instanceId,
    leaseMs: 60_000,
    beatMs: 1_000,
    begunAtMs: monotonicMs(),
    renewer: {
      start: async () => {},
      renew: nothing,
      rest: nothing,
      reportTo: nothing,
      watch: (claim) => watch.take({ watch: claim }),
      unwatch: (claim) => watch.take({ unwatch: claim }),
      end: async () => {},
    },
    onTimeline: nothing,
    onRenewed: nothing,
    onFailed: nothing,
    onLost: nothing,
    onOverdue: nothing,
    onOverdueFailed: nothing,
  });
  lease.watch(held, obeyMs);
  lease.stop();
  return watch;
}

it("the main loop goes first when both find it overdue at the same moment", async () => {
  const scheduler = await claimed([1]);
  const [held] = scheduler.held.all();
  if (held === undefined) throw new Error("Nothing was claimed");
  const begunAtMs = monotonicMs();
  const watch = watchedBy(scheduler, held, 0);
  await waitUntil("its time is over", () => monotonicMs() > begunAtMs + timeouts.runningMs + 5);

  expect(await watch.endOverdue()).toEqual({ ended: [], failures: [] });

  await waitUntil("nobody else has ended it", async () => (await watch.endOverdue()).ended.length === 1);
  expect(await scheduler.get(held.claim.taskRunId)).toMatchObject({ outcome: "HANDLER_STUCK" });
});
