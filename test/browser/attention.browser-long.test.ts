/** What needs a person stays in sight, however much ends beside it, and what is tried again by itself needs nobody. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { openPage } from "./watched-page.ts";

/** More than the charts look at. */
const ENDED_SINCE = 230;

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)("a failure", () => {
  test("stays in sight until somebody tries it again, unless it is tried again by itself", async () => {
    if (browser === null) throw new Error("unreachable: skipped without a browser");
    const { client, url } = dashboard;
    const { taskRunId } = await client.createTask({ kind: "failing", title: "for good" });
    const retry = { attempts: 2, backoff: { firstMs: 600_000 } };
    await client.createTask({ kind: "failing", title: "tried again later", retry });
    await client.createTasks({
      tasks: Array.from({ length: ENDED_SINCE }, (_, n) => ({ kind: "steered", title: `quick ${n}` })),
    });
    const unfinished = async (): Promise<number> =>
      (await client.listTaskRuns({ status: ["PENDING", "AVAILABLE", "RUNNING"], limit: 500 })).taskRuns
        .length;
    // The second attempt of one waits.
    await expect.poll(unfinished, { timeout: 30_000 }).toBe(1);
    const { page, close } = await openPage(browser, url);

    const attention = page.locator('[data-block="1"]');
    await attention.getByText("for good").waitFor();
    expect(await attention.getByText("tried again later").count()).toBe(0);
    await page.locator('nav [data-attention="1"]').waitFor();

    await client.retry(taskRunId);
    // It fails once more, as the newest attempt.
    await expect.poll(async () => (await client.listAttempts(taskRunId)).taskRuns[0]?.status).toBe("FAILED");
    await attention
      .locator(`a[href$="${(await client.listAttempts(taskRunId)).taskRuns[0]?.taskRunId}"]`)
      .waitFor();
    expect(await attention.getByText("for good").count()).toBe(1);
    await close();
  });
});
