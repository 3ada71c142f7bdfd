/** Script in every field that a page shows: it is shown as text, and nothing of it runs. */

import { defineTask } from "@signalbox/core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { SCRIPT_TEXTS } from "../hostile/script-texts.ts";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

const IN_EVERY_TEXT = /lert|evil/;

/** What was given to it is printed, thrown and answered. */
const repeats = defineTask({
  kind: "repeats",
  run: (input: unknown, { log }) => {
    const text = String(input);
    log(`${text}\n\u001b]8;;javascript:alert(1)\u0007${text}\u001b]8;;\u0007\n\u001b[31m${text}\u001b[0m\n`);
    throw new Error(text);
  },
});

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let watched: WatchedPage;
let page: Page;
const dialogs: string[] = [];
/** The ids of the task runs by the text that they have everywhere. */
const failed = new Map<string, string>();
const waiting = new Map<string, string>();

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), {
    instances: [nameOf(SCRIPT_TEXTS[0] ?? "")],
    tasks: [repeats],
  });
  for (const text of SCRIPT_TEXTS) await bring(text);
  await vi.waitFor(async () => {
    const { taskRuns } = await dashboard.client.listTaskRuns({
      status: ["PENDING", "AVAILABLE", "RUNNING"],
      kind: "repeats",
      limit: 500,
    });
    expect(taskRuns.filter(({ blockedOn }) => blockedOn !== "STOPPED")).toEqual([]);
  }, 60_000);
  watched = await openPage(browser, `${dashboard.url}/`);
  ({ page } = watched);
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
});

afterAll(async () => {
  if (browser === null) return;
  await watched.close();
  await browser.close();
  await dashboard.close();
});

/** One that fails with the text, and one that waits for it; both have it as every name. */
async function bring(text: string): Promise<void> {
  const { client } = dashboard;
  const name = nameOf(text);
  const named = {
    kind: "repeats",
    title: name,
    queue: name,
    tags: [name],
    concurrencyKey: name,
    resources: [{ name, mode: "shared" as const }],
    input: text,
  };
  const run = { title: name };
  const stops = [{ code: "HELD", detail: name }];
  const { taskRuns } = await client.createTasks({ tasks: [named, { ...named, stops }], run });
  failed.set(text, taskRuns[0]?.taskRunId ?? "");
  waiting.set(text, taskRuns[1]?.taskRunId ?? "");
  await client.pause({ resource: `${name} paused` }, { by: name, reason: name });
  // About one that has not ended: nothing comes of it.
  const ids = [waiting.get(text) ?? ""];
  await client.startOperation({ verb: "retry", filter: { ids }, by: name, reason: name });
}

/** A name has no control characters, and its end is not a space. */
function nameOf(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").trim();
}

/** As a page shows it. */
function shown(name: string): string {
  return name.replaceAll(/[\u2028-\u202e]/g, "·");
}

/** What a page of ours never has: what a text became that was taken for markup. A string, since it runs in the page. */
const FIND_MARKUP = `[...document.querySelectorAll("*")].flatMap((element) => {
  const wrong = [...element.attributes].filter(({ name, value }) =>
    name.startsWith("on") || (["href", "src", "action", "xlink:href", "data"].includes(name) && /^\\s*(javascript|data|vbscript):/i.test(value)));
  const foreign = element.matches("script:not([src]), iframe, object, embed, video, audio, marquee, math, xmp, template, base:not(head > base:first-of-type), meta[http-equiv], svg script, svg animate, main img");
  return wrong.length > 0 || foreign ? [element.outerHTML.slice(0, 200)] : [];
})`;

async function expectOnlyText(): Promise<void> {
  expect(await page.evaluate(FIND_MARKUP)).toEqual([]);
  expect(dialogs).toEqual([]);
  expect(watched.complaints).toEqual([]);
}

async function open(path: string): Promise<void> {
  await page.goto(`${dashboard.url}${path}`);
  await page.locator("main h1").waitFor();
}

describe.skipIf(browser === null)("script in every field that is shown", () => {
  test("would be seen if it ran, or became markup", async () => {
    await open("/");
    await page.evaluate(
      `document.querySelector("main").insertAdjacentHTML("beforeend", "<img src=x onerror=alert(1)>")`,
    );
    await expect.poll(() => watched.complaints.length).toBeGreaterThan(0);

    expect(await page.evaluate(FIND_MARKUP)).toHaveLength(1);
    watched.forget();
  });

  test.each(SCRIPT_TEXTS)("%s of a task run that failed is text", async (text) => {
    await open(`/task-runs/${failed.get(text)}`);
    await page
      .getByRole("heading", { name: shown(nameOf(text)), exact: true })
      .first()
      .waitFor();
    await page.getByRole("log").getByText(IN_EVERY_TEXT).first().waitFor();

    await expectOnlyText();
  });

  test.each(SCRIPT_TEXTS)("%s of one that waits is text, and as a filter", async (text) => {
    await open(`/task-runs/${waiting.get(text)}`);
    await page
      .locator('[data-gate="STOPPED"]')
      .getByText(shown(nameOf(text)))
      .first()
      .waitFor();
    await expectOnlyText();

    const filter = encodeURIComponent(nameOf(text));
    await open(`/tasks?kind=repeats&queue=${filter}&tag=${filter}`);
    await page
      .locator("tbody")
      .getByText(shown(nameOf(text)))
      .first()
      .waitFor();
    await expectOnlyText();
  });

  test.each(["/", "/tasks", "/operations", "/resources", "/cluster"])(
    "all of them on %s are text",
    async (path) => {
      await open(path);
      await expect.poll(async () => await page.getByText("Loading").count(), { timeout: 10_000 }).toBe(0);

      await expectOnlyText();
    },
  );

  test("a resource with such a name has a page", async () => {
    for (const text of SCRIPT_TEXTS.slice(0, 4)) {
      await open(`/resources/${encodeURIComponent(nameOf(text))}`);
      await page
        .getByRole("heading", { name: shown(nameOf(text)) })
        .first()
        .waitFor();
      await expectOnlyText();
    }
  });
});
