/** Maintenance and freeze windows on queues and resources: at the gate, at the claim, and when they close. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { parkingIn } from "../../test/look.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { WindowSpec } from "../domain/window-spec.ts";
import { claimOnce } from "./claimer.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** From and until that many milliseconds from now, by the database's clock. */
async function once(kind: WindowSpec["kind"], fromMs: number, untilMs: number): Promise<WindowSpec> {
  const now = (await box.value<Date>("SELECT clock_timestamp()")).getTime();
  return { kind, from: new Date(now + fromMs), until: new Date(now + untilMs) };
}

it("are refused where there are more than every pass can judge", async () => {
  const scheduler = await box.scheduler();
  const freeze = await once("freeze", -60_000, 60_000);

  await expect(
    scheduler.setWindows(
      { queue: "mail" },
      Array.from({ length: 101 }, () => freeze),
    ),
  ).rejects.toMatchObject({ code: "INVALID_WINDOW", message: expect.stringContaining("at most 100") });
});

describe("a freeze", () => {
  it("keeps a queue closed, says until when, and opens by itself", async () => {
    const scheduler = await box.scheduler();
    const freeze = await once("freeze", -60_000, 60_000);
    await scheduler.setWindows({ queue: "mail" }, [freeze]);
    const { taskRunId, status } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));

    const pass = await scheduler.promote();

    expect(status).toBe("PENDING");
    expect(await parkingIn(box, taskRunId)).toBe("WINDOW queue:mail");
    expect(pass.kind === "passed" && pass.nextDueMs).toBeGreaterThan(50_000);
    const opensAt = "until" in freeze ? freeze.until : null;
    const { gates } = await scheduler.explain(taskRunId);
    expect(gates.find(({ code }) => code === "WINDOW")).toMatchObject({
      state: "blocking",
      causes: [{ cause: { scope: "queue:mail", window: "freeze", opensAt }, earliestAt: opensAt }],
    });
    // The time has come: the window lies behind, and so does the wake that was set for its end.
    await scheduler.setWindows({ queue: "mail" }, [await once("freeze", -120_000, -1)]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRunId] });
  });

  it("leaves a wake for its end, and not before", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setWindows({ resource: "orders" }, [await once("freeze", -60_000, 60_000)]);
    await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await scheduler.promote();

    expect(await box.query("SELECT key FROM signalbox.gate_wake WHERE due_at IS NOT NULL")).toEqual([
      { key: "window:resource:orders" },
    ]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
    expect(await box.query("SELECT key FROM signalbox.gate_wake WHERE due_at IS NOT NULL")).toHaveLength(1);
  });
});

describe("a maintenance window", () => {
  it("lets in what is promoted while it is open, and stamps when it closes", async () => {
    const scheduler = await box.scheduler();
    const open = await once("maintenance", -60_000, 60_000);
    await scheduler.setWindows({ resource: "orders" }, [open]);
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));

    await scheduler.promote();

    expect(await box.query("SELECT open_until FROM signalbox.ready")).toEqual([
      { open_until: "until" in open ? open.until : null },
    ]);
    expect(await scheduler.claim()).toEqual([taskRunId]);
  });

  it("that lies ahead keeps it closed until it opens", async () => {
    const scheduler = await box.scheduler();
    const ahead = await once("maintenance", 60_000, 120_000);
    await scheduler.setWindows({ queue: "mail" }, [ahead]);
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    await scheduler.promote();

    const { gates } = await scheduler.explain(taskRunId);

    expect(gates.find(({ code }) => code === "WINDOW")?.causes).toMatchObject([
      { cause: { window: "maintenance", opensAt: "from" in ahead ? ahead.from : null } },
    ]);
  });

  it("closes for what nobody claimed: it is not claimed any more and says why", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setWindows({ resource: "orders" }, [await once("maintenance", -60_000, 60_000)]);
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    // As if the minute had passed.
    await box.query(
      `UPDATE signalbox.ready SET open_until = clock_timestamp() - interval '1 ms';
       UPDATE signalbox.start_window SET windows = jsonb_set(windows, '{0,until}', to_jsonb(to_char(
         (clock_timestamp() - interval '1 ms') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`,
    );

    expect(await scheduler.claim()).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ demoted: [taskRunId], promoted: [] });
    expect(await parkingIn(box, taskRunId)).toBe("WINDOW resource:orders");
  });
});

describe("a window that is put on while work is AVAILABLE", () => {
  it("of a queue lets nothing of it start any more, and says why", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId, status } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));

    await scheduler.setWindows({ queue: "mail" }, [await once("freeze", -60_000, 60_000)]);

    expect(status).toBe("AVAILABLE");
    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    expect(await scheduler.claim()).toEqual([]);
    await scheduler.promote();
    expect(await parkingIn(box, taskRunId)).toBe("WINDOW queue:mail");
  });

  it("of a resource sends back what holds it, and what runs goes on", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    const resources = [shared("orders")];
    const { taskRuns } = await scheduler.enqueueMany([1, 2].map((n) => echo.task(n, { resources })));
    await scheduler.promote();
    const [runs] = await scheduler.claim();
    const waits = taskRuns.find(({ taskRunId }) => taskRunId !== runs)?.taskRunId ?? "";

    await scheduler.setWindows({ resource: "orders" }, [await once("freeze", -60_000, 60_000)]);

    expect([await box.statusOf(runs ?? ""), await box.statusOf(waits)]).toEqual(["RUNNING", "PENDING"]);
    await scheduler.promote();
    expect(await parkingIn(box, waits)).toBe("WINDOW resource:orders");
    await scheduler.execute();
    await scheduler.settle();
    expect(await box.statusOf(runs ?? "")).toBe("DONE");
  });

  it("waits for a claim that is under way, and no claim after it gets anything", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    await scheduler.enqueueMany([1, 2].map((n) => echo.task(n, { queue: "mail" })));
    const pool = box.pool("claimer");
    const { instanceId, held } = scheduler;
    const claim = async (slots: number) =>
      await claimOnce({
        pool,
        instanceId,
        kinds: ["echo"],
        slots,
        batchSize: 9,
        held,
        isTrusted: () => true,
      });
    const freeze = await once("freeze", -60_000, 60_000);
    const atCommit = pool.pauseBefore("COMMIT");
    const claimed = claim(1);
    await atCommit.reached;

    const closed = scheduler.setWindows({ queue: "mail" }, [freeze]);
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    atCommit.resume();
    await closed;

    expect(await claimed).toHaveLength(1);
    expect(await claim(9)).toEqual([]);
  });
});

describe("a window that this instance cannot judge", () => {
  it("keeps its queue closed, and holds up nobody else", async () => {
    const scheduler = await box.scheduler();
    const strange = {
      kind: "maintenance",
      opens: "0 2 * * *",
      lastsMs: 3_600_000,
      timeZone: "Moon/Tranquility",
    };
    await box.query("INSERT INTO signalbox.start_window (over, name, windows) VALUES ('queue', 'mail', $1)", [
      JSON.stringify([strange]),
    ]);
    const resources = [exclusive("orders")];
    const waits = await scheduler.enqueue(echo.task(1, { queue: "mail", resources }));
    const goes = await scheduler.enqueue(echo.task(2, { resources: [exclusive("accounts")] }));

    expect(await scheduler.promote()).toMatchObject({ promoted: [goes.taskRunId] });

    expect(await parkingIn(box, waits.taskRunId)).toBe("WINDOW queue:mail");
  });
});

describe("windows that are taken off", () => {
  it("hold nobody any more", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setWindows({ queue: "mail" }, [await once("freeze", -60_000, 60_000)]);
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    await scheduler.promote();

    await scheduler.setWindows({ queue: "mail" }, []);

    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRunId] });
    expect((await scheduler.enqueue(echo.task(2, { queue: "mail" }))).status).toBe("AVAILABLE");
    expect(await scheduler.claim()).toHaveLength(2);
  });
});
