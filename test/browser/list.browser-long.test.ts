/** The list of task runs: what came late must not undo what came early, nothing is missing between its pages, and a filter is a step. */

import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { noteRowVersions } from "./row-versions.ts";
import { finish } from "./steered-tasks.ts";
import { openPage } from "./watched-page.ts";

const LATER = "2126-11-16T12:00:00.000Z";
const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;

beforeAll(async () => {
  if (browser !== null) dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)("an answer that comes late", () => {
  test("of a list does not take back what the stream has said", async () => {
    await dashboard.client.createTask({ kind: "steered", title: "overtaken", input: { until: "late" } });
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    const late = await holdAnswers(page, "**/api/v1/task-runs?limit=100");
    await page.goto(`${dashboard.url}/tasks`);
    const row = page.locator("tbody tr", { hasText: "overtaken" });
    await row.getByText("Running", { exact: true }).waitFor();
    expect(await late.asked()).toContain('"RUNNING"');
    finish("late");
    await row.getByText("Done", { exact: true }).waitFor();
    const versions = await noteRowVersions(page);

    await late.letGo();
    await dashboard.client.createTask({ kind: "steered", title: "afterwards", runAt: LATER });
    await page.locator("tbody tr", { hasText: "afterwards" }).waitFor();

    expect(await row.getByText("Done", { exact: true }).count()).toBe(1);
    expect(await versions.goneBack()).toEqual([]);
    await close();
  });

  test("of one task run does not either", async () => {
    const { taskRunId } = await dashboard.client.createTask({ kind: "steered", input: { until: "one" } });
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    const late = await holdAnswers(page, `**/api/v1/task-runs/${taskRunId}`);
    await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);
    const status = page.locator("main h1 + div [data-status]");
    await status.getByText("Running", { exact: true }).waitFor();
    expect(await late.asked()).toContain('"RUNNING"');
    finish("one");
    await status.getByText("Done", { exact: true }).waitFor();

    await late.letGo();
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");

    expect(await status.innerText()).toBe("Done");
    await close();
  });

  test("of the attempts does not take back what the stream has said of one of them elsewhere", async () => {
    const { taskRunId } = await dashboard.client.createTask({ kind: "steered", input: { until: "attempt" } });
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    await keepFromStream(page, "/attempts");
    const late = await holdAnswers(page, "**/api/v1/task-runs/*/attempts?*");
    await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);
    const status = page.locator("main h1 + div [data-status]");
    await status.getByText("Running", { exact: true }).waitFor();
    expect(await late.asked()).toContain('"RUNNING"');
    finish("attempt");
    await status.getByText("Done", { exact: true }).waitFor();

    await late.letGo();
    // Nothing but its row version tells that this answer is old: no stream has spoken of the attempts.
    const attempt = page.getByRole("region", { name: "Attempts" }).locator("span[data-status]");
    await attempt.waitFor();

    expect(await attempt.innerText()).toBe("Done");
    await close();
  });

  test("of the attempts leaves open whether a retry is offered: only of the newest", async () => {
    const { client } = dashboard;
    const first = await client.createTask({ kind: "failing", title: "tried twice" });
    await hasFailed(first.taskRunId);
    const newest = await client.retry(first.taskRunId);
    await hasFailed(newest.taskRunId);
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    await keepFromStream(page, "/attempts");
    const retry = page.getByRole("button", { name: "Retry task", exact: true });

    const offered: number[] = [];
    for (const { taskRunId } of [first, newest]) {
      const late = await holdAnswers(page, "**/api/v1/task-runs/*/attempts?*");
      await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);
      await page.locator("main h1 + div [data-status=FAILED]").waitFor();
      await late.asked();
      offered.push(await retry.count());
      await late.letGo();
      await page.getByRole("region", { name: "Attempts" }).locator("span[data-status]").first().waitFor();
      offered.push(await retry.count());
    }

    expect(offered).toEqual([0, 0, 0, 1]);
    await close();
  });
});

async function hasFailed(taskRunId: string): Promise<void> {
  await expect
    .poll(async () => (await dashboard.client.getTaskRun(taskRunId)).status, { timeout: 20_000 })
    .toBe("FAILED");
}

/** The page believes that its stream follows such topics, and the stream never hears of them. */
async function keepFromStream(page: Page, part: string): Promise<void> {
  // The stream of a worker cannot be changed on its way.
  await page.context().addInitScript("delete globalThis.SharedWorker; delete globalThis.BroadcastChannel");
  await page.route("**/api/v1/stream?*", async (route: Route) => {
    const url = new URL(route.request().url());
    const topics = url.searchParams.getAll("topic").filter((topic) => !topic.includes(part));
    url.search = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join("&");
    await route.continue({ url: url.href });
  });
}

describe.skipIf(browser === null)("a list of several pages", () => {
  test("has no hole and nothing twice when new ones come on top", async () => {
    const { client } = dashboard;
    await enqueue(230);
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks?kind=steered&queue=pages`);
    await rowCount(page, 101);
    await readToItsEnd(page, 231);
    await page.evaluate("scrollTo({ top: 0 })");

    await enqueue(30);
    await page.locator("tbody tr").first().waitFor();
    await rowCount(page, 261);
    // More than a page at once: some were on no first page that was ever seen.
    await enqueue(150);
    await rowCount(page, 301);
    await readToItsEnd(page, 411);
    const shown = await idsFromTopToEnd(page);

    const { taskRuns } = await client.listTaskRuns({ queue: "pages", limit: 500 });
    expect(shown).toEqual(taskRuns.map(({ taskRunId }) => taskRunId));
    await close();
  });
});

describe.skipIf(browser === null)("a filter", () => {
  test("of the list is a step that the browser goes back", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks`);
    const chip = page.getByRole("group", { name: "Status" }).getByRole("button", { name: "Failed" });
    await chip.click();
    await page.waitForURL("**/tasks?status=FAILED");
    await page.getByLabel("exact value").fill("failing");
    await page.getByLabel("exact value").press("Enter");
    await page.waitForURL("**/tasks?status=FAILED&kind=failing");

    await page.goBack();
    expect(page.url()).toBe(`${dashboard.url}/tasks?status=FAILED`);
    await page.goBack();
    expect(page.url()).toBe(`${dashboard.url}/tasks`);
    expect(await chip.getAttribute("aria-pressed")).toBe("false");
    await close();
  });

  test("of the resources is one as well", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/resources`);
    const field = page.getByRole("searchbox");
    await field.fill("orders");
    await field.press("Enter");
    await page.waitForURL("**/resources?search=orders");

    await page.goBack();
    expect(page.url()).toBe(`${dashboard.url}/resources`);
    await expect.poll(async () => await field.inputValue()).toBe("");
    await close();
  });
});

async function enqueue(count: number): Promise<void> {
  const tasks = Array.from({ length: count }, () => ({ kind: "steered", queue: "pages", runAt: LATER }));
  await dashboard.client.createTasks({ tasks });
}

/** The header is a row as well. */
async function rowCount(page: Page, count: number): Promise<void> {
  await page.locator(`table[aria-rowcount="${count}"]`).waitFor({ timeout: 30_000 });
}

async function readToItsEnd(page: Page, count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.evaluate("scrollTo({ top: document.documentElement.scrollHeight })");
        return await page.locator("table").getAttribute("aria-rowcount");
      },
      { timeout: 30_000 },
    )
    .toBe(String(count));
}

/** Which task runs there are, from the first to the last: only what can be seen is in the document. */
async function idsFromTopToEnd(page: Page): Promise<readonly string[]> {
  await page.evaluate("scrollTo({ top: 0 })");
  return await page.evaluate<readonly string[]>(`(async () => {
    const ids = new Map();
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)));
    for (let top = 0; top <= document.documentElement.scrollHeight; top += innerHeight / 2) {
      scrollTo({ top });
      await frame();
      for (const row of document.querySelectorAll("tr[data-task-run]")) {
        ids.set(Number(row.dataset.index), row.dataset.taskRun);
      }
    }
    return [...ids].toSorted(([one], [other]) => one - other).map(([, id]) => id);
  })()`);
}

interface HeldAnswers {
  /** What the first one said. */
  readonly asked: () => Promise<string>;
  readonly letGo: () => Promise<void>;
}

/** Requests are answered at once, and the page gets the answers when the test lets them go. */
async function holdAnswers(page: Page, url: string): Promise<HeldAnswers> {
  let open = (): void => {};
  const gone = new Promise<void>((resolve) => {
    open = resolve;
  });
  const bodies: string[] = [];
  const delivered: Promise<void>[] = [];
  await page.route(url, async (route: Route) => {
    const response = await route.fetch();
    const body = await response.text();
    bodies.push(body);
    await gone;
    const answer = route.fulfill({ response, body });
    delivered.push(answer);
    await answer;
  });
  return {
    asked: async () => {
      await expect.poll(() => bodies.length).toBeGreaterThan(0);
      return bodies[0] ?? "";
    },
    letGo: async () => {
      open();
      await expect.poll(() => delivered.length).toBeGreaterThan(0);
      await Promise.all(delivered);
      await page.unroute(url);
    },
  };
}

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}
