/** Twenty dashboards over 100,000 task runs for five minutes, and a PostgreSQL that is away for 20 s (UX check 20). */

import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { openPage } from "./watched-page.ts";

const TASK_RUNS = 100_000;
const DASHBOARDS = 20;
const OPEN_MS = 300_000;
const AWAY_MS = 20_000;
const LIST_MS = 300;
const STATEMENT_MS = 1_000;
/** A count that ends nowhere. */
const WHOLE_TABLE =
  /count\(\*\)(?:::\w+)?(?: AS "?\w+"?)?\s+FROM signalbox\.(?:task|task_run|waiting|ready|line)\b/i;
const LATER = new Date("2126-11-16T12:00:00Z");

const browser: Browser | null = await findBrowser();
let postgres: OwnPostgres;
let dashboard: OpenDashboard;
let paths: readonly string[];
let pages: readonly Page[];
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  if (browser === null) return;
  postgres = await startOwnPostgres({ shared_preload_libraries: "pg_stat_statements" });
  dashboard = await openDashboard(postgres.url, { instances: ["inst-a"] });
  const { client, scheduler } = dashboard;
  const failed = await client.createTask({ kind: "failing", title: "one that failed" });
  await vi.waitFor(
    async () => expect((await client.getTaskRun(failed.taskRunId)).status).toBe("FAILED"),
    30_000,
  );
  await scheduler.enqueueMany(
    Array.from({ length: TASK_RUNS }, (_, number) => ({
      kind: "steered",
      title: `task ${number}`,
      runAt: LATER,
    })),
  );
  await asked("CREATE EXTENSION pg_stat_statements");
  paths = ["/", "/tasks", "/tasks?status=FAILED", `/task-runs/${failed.taskRunId}`, "/resources", "/cluster"];
}, 600_000);

afterAll(async () => {
  if (browser === null) return;
  for (const end of ends) await end();
  await browser.close();
  await dashboard?.close();
  await postgres?.remove();
}, 120_000);

test.skipIf(browser === null)("the first page of the list is there at once", async () => {
  const took: number[] = [];
  for (let time = 0; time < 11; time += 1) {
    const from = performance.now();
    await dashboard.client.listTaskRuns({ limit: 100 });
    took.push(performance.now() - from);
  }

  // The middle one: what else the machine does is not the list's.
  expect(took.toSorted((one, other) => one - other)[5]).toBeLessThan(LIST_MS);
});

describe.skipIf(browser === null)("twenty dashboards", () => {
  beforeAll(async () => {
    if (browser === null) return;
    const places = Array.from({ length: DASHBOARDS }, (_, index) => paths[index % paths.length] ?? "/");
    pages = await Promise.all(places.map(open));
  }, 600_000);

  test("ask nothing that takes long, and count no whole table", async () => {
    for (const page of pages) await live(page);
    await asked("SELECT pg_stat_statements_reset()");
    await wait(OPEN_MS);
    const statements = await asked<{ query: string; longest: number; calls: number }>(
      `SELECT query, max_exec_time AS longest, calls::integer AS calls FROM pg_stat_statements
        WHERE query LIKE '%signalbox.%' ORDER BY max_exec_time DESC`,
    );

    expect(statements.length).toBeGreaterThan(5);
    expect(statements.filter(({ longest }) => longest > STATEMENT_MS)).toEqual([]);
    expect(statements.filter(({ query }) => WHOLE_TABLE.test(query))).toEqual([]);
    expect(statements.filter(({ query }) => /AS "rowVersion"/.test(query)).length).toBeGreaterThan(0);
  }, 600_000);

  test("keep what they show while the database is away, say how old it is, and come back by themselves", async () => {
    const before = await Promise.all(pages.map(shownLines));
    await postgres.restart("fast", async () => {
      await wait(AWAY_MS);
      for (const [index, page] of pages.entries()) {
        await page
          .getByRole("alert")
          .filter({ hasText: /\d{1,2}:\d{2}:\d{2}/ })
          .first()
          .waitFor();
        expect(await shownLines(page)).toBeGreaterThanOrEqual((before[index] ?? 1) * 0.8);
      }
    });
    for (const page of pages) {
      await page.getByRole("alert").filter({ hasText: /\d/ }).waitFor({ state: "detached", timeout: 60_000 });
      await live(page);
    }
    await vi.waitFor(async () => {
      await dashboard.client.createTask({
        kind: "steered",
        title: "after the outage",
        runAt: LATER.toISOString(),
      });
    }, 30_000);
    await pages[1]?.getByRole("link", { name: "after the outage" }).first().waitFor({ timeout: 30_000 });
  }, 300_000);
});

async function open(path: string): Promise<Page> {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  const { page, close } = await openPage(browser, "about:blank");
  ends.push(close);
  await page.goto(`${dashboard.url}${path}`, { timeout: 120_000 });
  await page.locator("main h1").waitFor({ timeout: 120_000 });
  return page;
}

async function live(page: Page): Promise<void> {
  await page.locator('[data-freshness="live"]').waitFor({ timeout: 60_000 });
}

/** How many lines of text a page has to show. */
async function shownLines(page: Page): Promise<number> {
  return await page.evaluate<number>("document.querySelector('main').innerText.split('\\n').length");
}

async function asked<Row extends pg.QueryResultRow>(statement: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
