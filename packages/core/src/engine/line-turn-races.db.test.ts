/** A slot that is about to go on, and what happens at the same moment to the one that ends, to who is next, and to their resource. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { cancel } from "../../test/acts.ts";
import { openFixture } from "../../test/fixture.ts";
import { FREEZE } from "../../test/lines.ts";
import { holdersIn } from "../../test/look.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { runFirst, type Turning, version } from "../../test/turning-worker.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import { pauseScope } from "../store/rules/pause.ts";
import { sql } from "../store/sql.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const aboutToEnd = async (): Promise<Turning> => await runFirst(box, [version(1), version(2)]);

describe("does not wait for", () => {
  it.each([
    ["who writes to the one that ends", "task_run", "id", 0],
    ["who writes to the waiting row of the next one", "waiting", "task_run_id", 1],
    ["who writes to the next one", "task_run", "id", 1],
  ] as const)("%s, and passes it over", async (_, table, column, which) => {
    const { worker, ids } = await aboutToEnd();
    const lock = {
      ...sql("lock")``,
      text: `SELECT FROM signalbox.${table} WHERE ${column} = '${ids[which]}' FOR UPDATE`,
    };
    const other = await leaveOpen(box.pool("other"), async (tx) => await tx.query(lock));

    const wentOn = await worker.goOn();

    await other.rollBack();
    expect(wentOn).toEqual({ ended: [], claims: [] });
    expect(await box.statusOf(ids[0])).toBe("RUNNING");
  });

  it("who writes to the next one of one line, and goes on with the others", async () => {
    const users = { resources: [exclusive("users")] };
    const { worker, ids } = await runFirst(box, [
      version(1),
      version(2),
      version(1, users),
      version(2, users),
    ]);
    const lock = sql("lock")`SELECT FROM signalbox.task_run WHERE id = ${ids[1]} FOR UPDATE`;
    const other = await leaveOpen(box.pool("other"), async (tx) => await tx.query(lock));

    const { ended } = await worker.goOn();

    await other.rollBack();
    expect(ended).toEqual([ids[2]]);
    expect(await Promise.all(ids.map(box.statusOf))).toEqual(["RUNNING", "PENDING", "DONE", "RUNNING"]);
    expect(await holdersIn(box, "resource:orders")).toEqual([ids[0]]);
    expect(await holdersIn(box, "resource:users")).toEqual([ids[3]]);
  });

  it.each(["leaveWaiting", "COMMIT"])(
    "a cancel of the next one before its %s: it is canceled, and the slot is given back",
    async (at) => {
      const { worker, second, scheduler } = await aboutToEnd();
      const canceler = box.pool("canceler");
      const pause = canceler.pauseBefore(at);
      const canceled = cancel(second)(canceler);
      await pause.reached;
      worker.end();

      await worker.settleOnce();
      pause.resume();

      expect(await canceled).toBe("canceled");
      expect(worker.begun).toEqual([]);
      for (const table of ["hold", "ready", "claim_batch"])
        expect(await box.query(`SELECT FROM signalbox.${table}`), table).toEqual([]);
      expect((await scheduler.checkInvariants()).violations).toEqual([]);
    },
  );
});

it("a cancel that comes after it finds the next one RUNNING", async () => {
  const { worker, second, pool } = await aboutToEnd();
  const pause = pool.pauseBefore("COMMIT");
  worker.end();
  const settled = worker.settleOnce();
  await pause.reached;

  const canceled = cancel(second)(box.pool("canceler"));
  await waitUntilBlocked(box.db.client, "canceler");
  pause.resume();
  await settled;

  expect(await canceled).toBe("canceling");
  expect(await box.statusOf(second)).toBe("RUNNING");
});

describe("what closes the resource", () => {
  it.each([
    ["a pause", async (ruler: ManualScheduler) => await ruler.pause({ resource: "orders" })],
    ["a window", async (ruler: ManualScheduler) => await ruler.setWindows({ resource: "orders" }, [FREEZE])],
  ] as const)("%s waits for it and finds the next one RUNNING", async (_, close) => {
    const { worker, second, pool } = await aboutToEnd();
    const ruler = await box.scheduler({ name: "ruler" });
    const pause = pool.pauseBefore("COMMIT");
    worker.end();
    const settled = worker.settleOnce();
    await pause.reached;

    const closed = close(ruler);
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    pause.resume();
    await settled;
    await closed;

    expect(await box.statusOf(second)).toBe("RUNNING");
    expect(await holdersIn(box, "resource:orders")).toEqual([second]);
  });

  it("a pause before it keeps it out, though it began before the commit", async () => {
    const { worker, ids, second } = await aboutToEnd();
    const asked = { by: null, reason: null };
    const closing = await leaveOpen(
      box.pool("ruler"),
      async (tx) => await pauseScope(tx, "resource:orders", asked),
    );
    worker.end();

    const settled = worker.settleOnce();
    await waitUntilBlocked(box.db.client, "worker");
    await closing.commit();
    await settled;

    expect(worker.begun).toEqual([]);
    expect([await box.statusOf(ids[0]), await box.statusOf(second)]).toEqual(["DONE", "PENDING"]);
  });
});
