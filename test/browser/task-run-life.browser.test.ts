import type { Explanation } from "@signalbox/contract";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { startCommand } from "../ha/serve-process.ts";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { lagsOf, middleLags, noteStatuses } from "./status-times.ts";
import { finish } from "./steered-tasks.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

/** Each does the same; what they took is the middle of them. */
const LIVES = [1, 2, 3];
const SEEN_MS = 1_000;
const GATE_OPENS_MS = 3_000;
const LATER = "2126-11-16T12:00:00.000Z";
const ORDERS = [{ name: "database:orders", mode: "exclusive" as const }];
const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  if (browser !== null)
    dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"], slots: 1 });
});

beforeEach(async () => {
  if (browser === null) return;
  watched = await openPage(browser, `${dashboard.url}/tasks`);
  ({ page } = watched);
});

afterEach(async () => {
  await watched?.close();
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)("a task run", () => {
  test("passes through four words and icons where it stands, each within a second", async () => {
    await dashboard.client.createTasks({
      tasks: Array.from({ length: 30 }, () => ({ kind: "steered", title: "later", runAt: LATER })),
    });
    const lives: Readonly<Record<string, number>>[] = [];
    for (const life of LIVES) lives.push(await liveInTheList(life));

    expect(Object.keys(lives[0] ?? {})).toEqual(["PENDING", "AVAILABLE", "RUNNING", "DONE"]);
    expect(Object.entries(middleLags(lives)).filter(([, lag]) => !(lag < SEEN_MS))).toEqual([]);
  });

  test("says why it waits, as the command line does, and goes on within a second", async () => {
    const lives: Readonly<Record<string, number>>[] = [];
    for (const life of LIVES) lives.push(await waitForAnother(life));

    expect(Object.keys(lives[0] ?? {})).toEqual(["PENDING", "AVAILABLE", "RUNNING", "DONE"]);
    const { AVAILABLE: available, RUNNING: running, DONE: done } = middleLags(lives);
    expect([available, running, done].filter((lag) => !(lag !== undefined && lag < SEEN_MS))).toEqual([]);
    await page.getByRole("log").getByText("finished").waitFor();
    await page.getByText(`"ended": "second ${LIVES.at(-1)}"`).waitFor();
  });

  test("that nobody has claimed says that no slot is free, and has no waiting cause", async () => {
    const { client } = dashboard;
    await client.createTask({ kind: "steered", title: "long one", input: { until: "slot" } });
    const second = await client.createTask({ kind: "steered", title: "next one" });
    await page.goto(`${dashboard.url}/task-runs/${second.taskRunId}`);

    await page
      .locator("[data-claim-panel]")
      .getByText("nobody has claimed it: 1 of 1 instance has no free slot")
      .waitFor();
    expect(await page.locator("[data-gate]").count()).toBe(0);

    finish("slot");
    await shows("Done");
  });

  test("is canceled only after the harmless button was left, and tried again", async () => {
    const { client } = dashboard;
    await client.createTask({
      kind: "steered",
      title: "holder",
      input: { until: "holder" },
      resources: ORDERS,
    });
    const { taskRunId } = await client.createTask({ kind: "steered", title: "unwanted", resources: ORDERS });
    await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);

    await page.getByRole("button", { name: "Cancel task run" }).click();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Keep it");
    await page.keyboard.press("Escape");
    expect((await client.getTaskRun(taskRunId)).status).toBe("PENDING");
    await page.getByRole("button", { name: "Cancel task run" }).click();
    await page.getByLabel("Reason (optional)").fill("not needed");
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel task run" }).click();
    await shows("Canceled");
    await page.getByText("not needed").waitFor();

    await page.getByRole("button", { name: "Retry task" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Retry task" }).click();
    await page.getByText("Attempt 2").first().waitFor();
    finish("holder");
    await shows("Done");
  });

  test("opens its log at the first error, and finds text in all of it", async () => {
    const { taskRunId } = await dashboard.client.createTask({ kind: "failing", title: "import" });
    await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);
    await shows("Failed");

    const log = page.getByRole("log");
    await log.getByText("ERROR: deadlock detected").waitFor();
    expect(await log.locator(".ansi-red").innerText()).toBe("ERROR: deadlock detected");
    await log.focus();
    await page.keyboard.press("Control+f");
    await page.getByLabel("Find in log").fill("SECOND");
    await page.getByText("1 of 1").waitFor();
  });

  test("waits behind a button while somebody reads the list", async () => {
    const { client } = dashboard;
    await client.createTask({ kind: "steered", title: "seen" });
    await page.getByRole("link", { name: "seen" }).focus();

    await client.createTask({ kind: "steered", title: "unseen" });
    await page.getByRole("button", { name: "1 new – show" }).waitFor();
    expect(await page.getByRole("link", { name: "unseen" }).count()).toBe(0);

    await page.getByRole("button", { name: "1 new – show" }).click();
    await page.getByRole("link", { name: "unseen" }).waitFor();
  });
});

/** The status beside the title. */
async function shows(word: string): Promise<void> {
  await page
    .locator("main h1 + div [data-status]")
    .getByText(word, { exact: true })
    .waitFor({ timeout: 30_000 });
}

/** In the list: its gate opens after three seconds, and somebody else has the only slot for as long as it is to be AVAILABLE. */
async function liveInTheList(life: number): Promise<Readonly<Record<string, number>>> {
  const { client } = dashboard;
  const filler = await client.createTask({ kind: "steered", title: "filler", input: { until: "filler" } });
  await expect.poll(async () => (await client.getTaskRun(filler.taskRunId)).status).toBe("RUNNING");
  await page.goto(`${dashboard.url}/tasks`);
  await page.locator(`[data-freshness="live"]`).waitFor();
  const title = `gated ${life}`;
  const seen = await noteStatuses(page, `tr:has([aria-label*="${title}"]) [data-status]`);
  const runAt = new Date(Date.now() + GATE_OPENS_MS).toISOString();
  const { taskRunId } = await client.createTask({ kind: "steered", title, runAt, input: { until: title } });
  const row = page.locator(`tr[data-task-run="${taskRunId}"]`);
  await row.getByText("Pending", { exact: true }).waitFor();
  await page.evaluate("scrollTo({ top: 90 })");
  await row.getByRole("link", { name: title }).focus();
  const stands = async () =>
    await page.evaluate("[scrollY, document.activeElement.getAttribute('aria-label').split(', ')[1]]");
  expect(await stands()).toEqual([90, title]);

  await row.getByText("Available", { exact: true }).waitFor();
  finish("filler");
  await row.getByText("Running", { exact: true }).waitFor();
  finish(title);
  await row.getByText("Done", { exact: true }).waitFor();

  expect(await stands()).toEqual([90, title]);
  // Noted by one page: it was not loaded again.
  const statuses = await seen();
  expect(statuses.map(({ word, hasIcon }) => [word, hasIcon])).toEqual(
    ["Pending", "Available", "Running", "Done"].map((word) => [word, true]),
  );
  return lagsOf(statuses, await client.getTaskRun(taskRunId));
}

/** On its own page: another one has its database, and a more urgent one gets the only slot before it. */
async function waitForAnother(life: number): Promise<Readonly<Record<string, number>>> {
  const { client } = dashboard;
  const holding = { kind: "steered", resources: ORDERS };
  const first = await client.createTask({ ...holding, title: "add column", input: { until: "first" } });
  const until = `second ${life}`;
  const second = await client.createTask({ ...holding, title: "add index", input: { until } });
  await expect.poll(async () => (await client.getTaskRun(first.taskRunId)).status).toBe("RUNNING");
  await client.createTask({ kind: "steered", title: "urgent", priority: 0, input: { until: "urgent" } });
  await page.goto(`${dashboard.url}/task-runs/${second.taskRunId}`);

  const why = page.getByRole("region", { name: "Why" });
  await why.getByText("Database in use by another task").first().waitFor();
  await why
    .locator('[data-gate="RESOURCE_BUSY"][data-state="blocking"]')
    .getByText("Number 1 of 1 in line")
    .waitFor();
  expect(await why.getByRole("link", { name: "add column" }).getAttribute("href")).toBe(
    `/task-runs/${first.taskRunId}`,
  );
  await expectSameCauses(second.taskRunId);

  const seen = await noteStatuses(page, "main h1 + div [data-status]");
  finish("first");
  await page.locator("[data-claim-panel]").waitFor();
  expect(await page.locator("[data-gate]").count()).toBe(0);
  finish("urgent");
  await shows("Running");
  finish(until);
  await shows("Done");
  return lagsOf(await seen(), await client.getTaskRun(second.taskRunId));
}

/** What `signalbox why` prints is what the panel shows: each gate with its state, who stands in the way, the place in line. */
async function expectSameCauses(taskRunId: string): Promise<void> {
  const panel = await page.evaluate(PANEL_GATES);
  const asObject = JSON.parse(await whyPrinted(taskRunId, ["--json"])) as Explanation;
  const asText = await whyPrinted(taskRunId);

  const applying = asObject.gates.filter(({ state }) => state !== "not_applicable");
  const printed = applying.map(({ code, state, causes }) => ({
    gate: `${code} ${state}`,
    blockers: causes.flatMap(({ blockers }) => blockers.map((each) => `/task-runs/${each.taskRunId}`)),
  }));
  expect(panel).toHaveLength(printed.length);
  expect(panel).toEqual(expect.arrayContaining(printed));
  expect(asText.match(/^ {2}BLOCKED .*$/gm)).toEqual([expect.stringMatching(/database:orders/)]);
  expect(asText).toMatch(/add column.*running/);
  expect(asText).toContain("number 1 of 1 in line");
}

const PANEL_GATES = `[...document.querySelectorAll("[data-gate]")].map((gate) => ({
  gate: gate.dataset.gate + " " + gate.dataset.state,
  blockers: [...gate.querySelectorAll("a")].map((link) => link.getAttribute("href")),
}))`;

async function whyPrinted(taskRunId: string, options: readonly string[] = []): Promise<string> {
  const command = startCommand(["why", taskRunId, "--server", dashboard.url, ...options], {});
  const { code, stdout, stderr } = await command.ended;
  if (code !== 0) throw new Error(`why ended with ${code}: ${stderr}`);
  return stdout;
}
