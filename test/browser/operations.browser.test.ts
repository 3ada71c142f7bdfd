/** Many task runs at once: choosing them, the dialog, the operation and its page. Check 14 of the design. */

import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { axeFindings, excessWidth, openPage, type WatchedPage } from "./watched-page.ts";

/** As many as the design says in the long round. */
const COUNT = process.env["SIGNALBOX_ALL_LOOKS"] === "1" ? 10_240 : 240;
const LATER = new Date("2090-01-01");
const number = new Intl.NumberFormat("en-US");

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let idle: OpenDashboard;
let none: OpenDashboard;
let db: pg.Client;
let watched: WatchedPage | null = null;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a", "inst-b"], slots: 50 });
  // Nobody carries anything on here: what has begun stays so for as long as the test looks at it.
  idle = await openDashboard(inject("adminUrl"), { instances: [] });
  none = await openDashboard(inject("adminUrl"), { instances: [] });
  db = new pg.Client({ connectionString: dashboard.databaseUrl });
  await db.connect();
}, 120_000);

afterEach(async () => {
  await watched?.close();
  watched = null;
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await db.end();
  await dashboard.close();
  await idle.close();
  await none.close();
});

async function open(address: string, on = dashboard): Promise<Page> {
  if (browser === null) throw new Error("There is no browser");
  watched = await openPage(browser, `${on.url}${address}`);
  return watched.page;
}

/** `COUNT` failed task runs, of which one was followed by another attempt. */
async function failMany(): Promise<void> {
  const { scheduler, client } = dashboard;
  const failing = { kind: "failing", input: null };
  await scheduler.enqueueMany([
    ...Array.from({ length: COUNT - 2 }, (_, index) => ({ ...failing, title: `broken ${index}` })),
    { ...failing, title: "broken twice", retry: { attempts: 2, backoff: { firstMs: 1 } } },
  ]);
  await vi.waitFor(
    async () => {
      const { eligible } = await client.previewOperation({ verb: "retry", filter: { kind: "failing" } });
      expect(eligible.count).toBe(COUNT - 1);
    },
    { timeout: 90_000, interval: 500 },
  );
}

describe.skipIf(browser === null)("all that a filter fits", () => {
  test(`are retried by one operation, ${number.format(COUNT)} of them`, async () => {
    await failMany();
    const { rows } = await db.query<{ taskId: string }>(
      "SELECT task_id AS \"taskId\" FROM signalbox.task_run WHERE status = 'FAILED' ORDER BY id LIMIT 1",
    );
    await db.query(
      `ALTER TABLE signalbox.task_run ADD CONSTRAINT planted CHECK (attempt = 1 OR task_id <> '${rows[0]?.taskId}') NOT VALID`,
    );
    const page = await open("/tasks?status=FAILED&kind=failing");
    const eligible = number.format(COUNT - 1);
    const all = number.format(COUNT);

    await page.getByLabel("Select all that are shown").check();
    await page.getByRole("button", { name: `Select all ${all} matching` }).click();
    await page.getByText(`${all} selected`).waitFor();
    expect(await page.getByRole("button", { name: `Cancel 0 of ${all}…` }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: `Retry ${eligible} of ${all}…` }).click();

    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("heading", { name: `Retry ${eligible} task runs? · DEV` }).waitFor();
    expect(await dialog.locator('[data-group="LATER_ATTEMPT"]').innerText()).toContain(
      "followed by another attempt",
    );
    expect(await dialog.getByRole("listitem").count()).toBe(6);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Leave them");
    expect(await axeFindings(page)).toEqual([]);

    const act = dialog.getByRole("button", { name: `Retry ${eligible} task runs` });
    await act.click();
    await dialog.getByLabel(`Type ${eligible} to confirm`).fill("7");
    await act.click();
    expect((await dashboard.client.listOperations()).operations).toEqual([]);
    await dialog.getByLabel(`Type ${eligible} to confirm`).fill(String(COUNT - 1));
    await dialog.getByLabel("Reason (optional)").fill("the disk is back");
    await act.dblclick({ noWaitAfter: true });

    await page.getByRole("link", { name: "Show its progress" }).click();
    await page.getByRole("progressbar").waitFor();
    await page.locator('[data-operation-status="DONE"]').waitFor({ timeout: 90_000 });
    expect(await page.locator('[data-count="done"] dd').innerText()).toBe(number.format(COUNT - 2));
    expect(await page.locator('[data-count="failed"] dd').innerText()).toBe("1");
    await page.locator('[data-item="23514"]').waitFor();
    await page.getByText("the disk is back").waitFor();
    expect((await dashboard.client.listOperations()).operations).toHaveLength(1);
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await excessWidth(page)).toBeLessThanOrEqual(0);

    await db.query("ALTER TABLE signalbox.task_run DROP CONSTRAINT planted");
    await page.getByRole("button", { name: "Try the failed ones again" }).click();
    await page.getByText("1 chosen task run").waitFor();
    await page.locator('[data-operation-status="DONE"]').waitFor();
    expect(await page.locator('[data-count="done"] dd').innerText()).toBe("1");
    expect(watched?.complaints).toEqual([]);
    expect(dashboard.logged).toEqual([]);
  });

  test("is nothing without a filter: the page does not offer it, and the API refuses it", async () => {
    const page = await open("/tasks");
    await page.getByLabel("Select all that are shown").check();

    await page.getByText("To select all, filter first.").waitFor();
    const response = await fetch(`${dashboard.url}/api/v1/operations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ verb: "cancel", filter: {} }),
    });
    expect([response.status, await response.json()]).toMatchObject([400, { code: "EMPTY_FILTER" }]);
  });
});

describe.skipIf(browser === null)("an operation", () => {
  test("about chosen rows goes on until somebody aborts it", async () => {
    await idle.scheduler.enqueueMany(
      Array.from({ length: 6 }, (_, index) => ({ kind: "steered", title: `letter ${index}`, runAt: LATER })),
    );
    const page = await open("/tasks?status=PENDING", idle);

    await page.getByLabel("Select “letter 5”").check();
    await page.getByLabel("Select “letter 2”").click({ modifiers: ["Shift"] });
    await page.getByText("4 selected").waitFor();
    await page.getByLabel("Select “letter 3”").uncheck();
    await page.getByRole("button", { name: "Cancel 3 of 3…" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel 3 task runs" }).click();
    await page.getByRole("link", { name: "Show its progress" }).click();

    await page.locator('[data-operation-status="RUNNING"]').waitFor();
    await page.getByRole("button", { name: "Abort" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Abort" }).click();
    await page.locator('[data-operation-status="ABORTED"]').waitFor();
    expect((await idle.client.listTaskRuns({ status: ["PENDING"] })).taskRuns).toHaveLength(6);
    expect(watched?.complaints).toEqual([]);
  });

  test("that is not there says so", async () => {
    const page = await open("/operations/019a8c3e-5d21-7abc-8def-000000000001", idle);

    await page.getByRole("heading", { name: "There is no such operation" }).waitFor();
  });
});

describe.skipIf(browser === null)("the list of operations", () => {
  test("teaches where there is none", async () => {
    const page = await open("/operations", none);

    await page.getByText("Nothing was canceled or retried together yet.").waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test("has every one, newest first and page by page, and what begins meanwhile comes on top", async () => {
    const { taskRuns } = await idle.client.createTasks({
      tasks: [{ kind: "steered", runAt: LATER.toISOString() }],
    });
    const filter = { ids: [taskRuns[0]?.taskRunId ?? ""] };
    for (let nth = 1; nth <= 30; nth += 1)
      await idle.client.startOperation({ verb: "cancel", filter, by: "ana", reason: `reason ${nth}` });
    const page = await open("/tasks", idle);
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByText("reason 30").waitFor();
    const newest = page.locator("[data-operation]").first();
    for (const text of ["Running", "Cancel 1 task run", "0 done", "ana"])
      await newest.getByText(text, { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);

    await idle.client.startOperation({ verb: "retry", filter, by: "ben", reason: "reason 31" });
    await newest.getByText("reason 31").waitFor();
    await idle.client.abortOperation((await idle.client.listOperations()).operations[0]?.operationId ?? "");
    await newest.getByText("Aborted", { exact: true }).waitFor();

    const shown = await shownOperations(page);
    await page.getByRole("link", { name: "Older" }).click();
    await page.getByRole("link", { name: "Newest" }).waitFor();
    await expect.poll(async () => (await shownOperations(page)).some((id) => shown.includes(id))).toBe(false);
    const all = await idle.client.listOperations({ limit: 500 });
    expect([...shown, ...(await shownOperations(page))]).toEqual(
      all.operations.map(({ operationId }) => operationId),
    );
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await excessWidth(page)).toBeLessThanOrEqual(0);
    expect(watched?.complaints).toEqual([]);
  });
});

async function shownOperations(page: Page): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(
    "[...document.querySelectorAll('[data-operation]')].map((row) => row.dataset.operation)",
  );
}

test.skipIf(browser === null)("a task run that has not started is deferred from its page", async () => {
  const { taskRunId } = await idle.client.createTask({ kind: "steered", title: "month end" });
  const page = await open(`/task-runs/${taskRunId}`, idle);

  await page.getByRole("button", { name: "Defer…" }).click();
  await page.getByLabel("For how long, from now").selectOption({ index: 3 });
  await page.getByLabel("Reason (optional)").fill("the month is closed first");
  await page.getByRole("alertdialog").getByRole("button", { name: "Defer", exact: true }).click();

  await page.locator('h1 ~ div [data-status="PENDING"]').waitFor();
  const { runAt, status } = await idle.client.getTaskRun(taskRunId);
  expect(status).toBe("PENDING");
  expect(Date.parse(runAt ?? "") - Date.now()).toBeGreaterThan(23 * 3_600_000);
});
