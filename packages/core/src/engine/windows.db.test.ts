/** Maintenance and freeze windows on queues and resources: at the gate, at the claim, and when they close. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { parkingIn } from "../../test/look.ts";
import { exclusive } from "../domain/resource.ts";
import type { WindowSpec } from "../domain/window-spec.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** From and until that many milliseconds from now, by the database's clock. */
async function once(kind: WindowSpec["kind"], fromMs: number, untilMs: number): Promise<WindowSpec> {
  const now = (await box.value<Date>("SELECT clock_timestamp()")).getTime();
  return { kind, from: new Date(now + fromMs), until: new Date(now + untilMs) };
}

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
