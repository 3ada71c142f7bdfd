/** What is AVAILABLE of a run or a resource goes back in bites when a rule closes: what may come in between them. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { statusesIn } from "../../test/look.ts";
import type { SteppedPool } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { pauseScope } from "../store/rules/pause.ts";
import { recallBite } from "../store/rules/recall.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { promoteOnce } from "./promoter.ts";
import { type Rules, ruleKeeper } from "./rule-keeper.ts";
import { createWakeups } from "./wakeups.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const ORDERS = { resource: "orders" };
const FREEZE = [{ kind: "freeze", from: new Date(0), until: new Date(Date.UTC(2999)) }] as const;
/** Two full bites and a rest. */
const MANY = 1_100;

let scheduler: ManualScheduler;
let ruler: SteppedPool;
let rules: Rules;
let bites: number[];

beforeEach(async () => {
  scheduler = await box.scheduler({ slots: 3 });
  ruler = box.pool("ruler");
  bites = [];
  rules = ruleKeeper(
    ruler,
    createWakeups(ruler, box.db.url, () => {}),
    (event) => {
      if (event.type === "task_run.demoted") bites.push(event.taskRunIds.length);
    },
  );
  await scheduler.enqueueMany(
    Array.from({ length: MANY }, (_, n) => echo.task(n, { resources: [shared("orders")] })),
  );
  await promoteAll();
});

async function promoteAll(): Promise<void> {
  const pool = box.pool("promoter");
  for (let more = true; more; ) {
    const pass = await promoteOnce({ pool, batchSize: 2_000 });
    more = pass.kind !== "passed" || pass.more;
  }
}

/** Its session ends between the first bite and the second. */
async function dieHalfWay(work: () => Promise<unknown>): Promise<void> {
  const inFirst = ruler.pauseBefore("goOnAfter");
  const halfWay = work();
  await inFirst.reached;
  const inSecond = ruler.pauseBefore("readRecall");
  inFirst.resume();
  await inSecond.reached;
  await box.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ruler' AND datname = current_database()",
  );
  inSecond.resume();
  await expect(halfWay).rejects.toThrow();
}

const statuses = async () => await statusesIn(box, "default");
const recalls = async () => await box.query("SELECT scope FROM signalbox.recall");

describe.each([
  ["pause", async () => await rules.pause(ORDERS)],
  ["windows", async () => await rules.setWindows(ORDERS, FREEZE)],
] as const)("%s of a resource that very many share", (_, close) => {
  it("sends them back in bites, all before it resolves", async () => {
    await close();

    expect(bites).toEqual([500, 500, 100]);
    expect(await statuses()).toEqual({ PENDING: MANY });
    expect(await scheduler.claim()).toEqual([]);
    expect(await recalls()).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is finished by passes where its process died half-way", async () => {
    await dieHalfWay(close);
    expect(await statuses()).toEqual({ AVAILABLE: MANY - 500, PENDING: 500 });

    for (let left = true; left; ) {
      const pass = await promoteOnce({ pool: box.pool("other"), batchSize: 400, straysToo: true });
      left = pass.kind !== "passed" || pass.straysLeft;
    }

    expect(await statuses()).toEqual({ PENDING: MANY });
    expect(await recalls()).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("between two bites of a pause", () => {
  it("a claim waits for nobody, and what it takes runs on; when the pause resolves nothing is taken any more", async () => {
    const inBite = ruler.pauseBefore("goOnAfter");
    const pausing = rules.pause(ORDERS);
    await inBite.reached;

    const taken = await scheduler.claim();
    inBite.resume();
    await pausing;

    expect(taken).toHaveLength(3);
    await scheduler.execute();
    await scheduler.settle();
    expect(await scheduler.claim()).toEqual([]);
    expect(await statuses()).toEqual({ DONE: 3, PENDING: MANY - 3 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("a pass lets nothing of it go, and may take a bite itself", async () => {
    const firstBite = ruler.pauseBefore("readRecall");
    const pausing = rules.pause(ORDERS);
    await firstBite.reached;
    const nextBite = ruler.pauseBefore("takeGateLock");
    firstBite.resume();
    await nextBite.reached;

    const pass = await promoteOnce({ pool: box.pool("other"), batchSize: 100, straysToo: true });
    nextBite.resume();

    expect(await pausing).toBe(true);
    expect(pass).toMatchObject({ promoted: [], straysLeft: true });
    expect(pass.kind === "passed" && pass.demoted).toHaveLength(100);
    expect(bites).toEqual([500, 500]);
    expect(await statuses()).toEqual({ PENDING: MANY });
  });

  it("the next one waits for a pass that is under way", async () => {
    const nextBite = ruler.pauseBefore("readRecall");
    const pausing = rules.pause(ORDERS);
    await nextBite.reached;
    const again = ruler.pauseBefore("takeGateLock");
    nextBite.resume();
    await again.reached;
    const promoter = box.pool("other");
    const atCommit = promoter.pauseBefore("COMMIT");
    const pass = promoteOnce({ pool: promoter, batchSize: 10 });
    await atCommit.reached;
    again.resume();

    await waitUntilBlocked(box.db.client, "ruler");
    atCommit.resume();

    expect(await pausing).toBe(true);
    expect(await pass).toMatchObject({ promoted: [] });
  });

  it("a second pause of the same says that it was paused, and not before all are back", async () => {
    const halfWay = ruler.pauseBefore("goOnAfter");
    const first = rules.pause(ORDERS);
    await halfWay.reached;
    const next = ruler.pauseBefore("takeGateLock");
    halfWay.resume();
    await next.reached;

    expect(await scheduler.pause(ORDERS)).toBe(false);

    expect(await statuses()).toEqual({ PENDING: MANY });
    next.resume();
    expect(await first).toBe(true);
    const events =
      "SELECT type FROM signalbox.event_store WHERE aggregate_type = 'pause' ORDER BY aggregate_version";
    expect(await box.query(events)).toEqual([{ type: "scope.paused" }, { type: "scope.recalled" }]);
  });
});

it("a pause after one that died half-way and was resumed begins with the first of them again", async () => {
  const { taskRunId } = await scheduler.enqueue(echo.task(0, { resources: [exclusive("users")] }));
  await promoteAll();
  await ruler.transaction(async (tx) => {
    await pauseScope(tx, "resource:users", { by: null, reason: null });
    await recallBite(tx, 1, null);
  });
  expect(await box.statusOf(taskRunId)).toBe("PENDING");
  await scheduler.resume({ resource: "users" });
  await promoteAll();
  expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");

  expect(await rules.pause({ resource: "users" })).toBe(true);

  expect(await box.statusOf(taskRunId)).toBe("PENDING");
});

it("comes to its end though passes let go again whom it has sent back", async () => {
  const inFirst = ruler.pauseBefore("goOnAfter");
  const opening = rules.setWindows(ORDERS, []);
  await inFirst.reached;
  const next = ruler.pauseBefore("takeGateLock");
  inFirst.resume();
  await next.reached;
  await promoteAll();
  next.resume();
  await opening;

  expect(bites).toEqual([500, 500, 100]);
  expect(await statuses()).toEqual({ AVAILABLE: 500, PENDING: 600 });
});

it("goes on behind those that run", async () => {
  const running = await (await box.scheduler({ name: "busy", slots: 100 })).claim();

  await rules.pause(ORDERS);

  expect(running).toHaveLength(100);
  expect(bites).toEqual([400, 500, 100]);
  expect(await statuses()).toEqual({ PENDING: MANY - 100, RUNNING: 100 });
});

it("a pause of a run sends back its task runs and leaves those of others", async () => {
  const resources = [shared("orders")];
  const { runId } = await scheduler.enqueueMany(
    Array.from({ length: 600 }, (_, n) => echo.task(n, { queue: "mail", resources })),
    { run: { title: "nightly" } },
  );
  if (runId === null) throw new Error("It was enqueued without a run");
  await promoteAll();
  const available = (await statusesIn(box, "mail"))["AVAILABLE"];

  await rules.pause({ runId });

  expect(available).toBeGreaterThan(0);
  expect(await statusesIn(box, "mail")).toEqual({ PENDING: 600 });
  expect(await statuses()).toEqual({ AVAILABLE: MANY });
});
