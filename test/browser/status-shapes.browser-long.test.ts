/** Statuses are told by their shapes, whatever colours somebody sees (UX check 18). */

import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

const STATUSES = [
  "NOT_STARTED",
  "PENDING",
  "AVAILABLE",
  "RUNNING",
  "DONE",
  "FAILED",
  "CANCELED",
  "SKIPPED",
] as const;
/** Of what two shapes cover together, how much both cover: above this they would be taken for one another. */
const MOST_ALIKE = 0.8;
const SCALE = 3;
/** WCAG 1.4.11. */
const LEAST_CONTRAST = 3;

const THEMES = ["light", "dark"] as const;

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

describe.skipIf(browser === null).each(THEMES)("the eight statuses, %s", (colorScheme) => {
  let page: Page;
  let vision: CDPSession;
  let templates: ReadonlyMap<string, Picture>;
  let watched: WatchedPage;
  let reader: WatchedPage;

  beforeAll(async () => {
    watched = await openPage(found(), `${dashboard.url}/preferences`, {
      colorScheme,
      viewport: { width: 800, height: 800 },
      deviceScaleFactor: SCALE,
      reducedMotion: "reduce",
    });
    reader = await openPage(found(), "about:blank");
    ({ page } = watched);
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    vision = await page.context().newCDPSession(page);
    templates = await picturesOf(page, reader.page);
  });
  afterAll(async () => {
    await watched?.close();
    await reader?.close();
  });

  test("have shapes of their own", () => {
    const pairs = [...templates].flatMap(([one, picture]) =>
      [...templates]
        .filter(([other]) => other > one)
        .map(([other, another]) => ({
          pair: `${one} ${other}`,
          alike: likeness(picture.shape, another.shape),
        })),
    );

    expect(pairs).toHaveLength(28);
    expect(pairs.filter(({ alike }) => alike > MOST_ALIKE)).toEqual([]);
  });

  test.each(["protanopia", "deuteranopia", "tritanopia", "achromatopsia"] as const)(
    "are known by them with %s",
    async (type) => {
      await vision.send("Emulation.setEmulatedVisionDeficiency", { type });
      const seen = await picturesOf(page, reader.page);
      await vision.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });

      const named = [...seen].map(([status, { shape }]) => [status, nearest(shape, templates)]);
      expect(named).toEqual(STATUSES.map((status) => [status, status]));
      // Or nothing was emulated.
      expect(seen.get("FAILED")?.colour).not.toEqual(templates.get("FAILED")?.colour);
    },
  );

  test.each(THEMES)("are known by them in forced colours, on a page that is to be %s", async (theme) => {
    await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
    await page.emulateMedia({ forcedColors: "active" });
    const seen = await picturesOf(page, reader.page);
    await page.emulateMedia({ forcedColors: "none" });
    await page.evaluate("delete document.documentElement.dataset.theme");

    const named = [...seen].map(([status, { shape }]) => [status, nearest(shape, templates)]);
    expect(named).toEqual(STATUSES.map((status) => [status, status]));
    // In one colour, that of text: those of the theme may be the same as what the reader wants behind them.
    expect(new Set([...seen].map(([, { strongest }]) => strongest.join())).size).toBe(1);
    expect([...seen].filter(([, { colour, behind }]) => contrast(colour, behind) < LEAST_CONTRAST)).toEqual(
      [],
    );
  });
});

test.skipIf(browser === null)("a row is read out with its status, its name and its attempt", async () => {
  const { client } = dashboard;
  const retry = { attempts: 3, backoff: { firstMs: 100, maxMs: 100 } };
  await client.createTask({ kind: "failing", title: "orders-eu-3", retry });
  await client.createTask({ kind: "failing", title: "once" });
  const { page, close } = await openPage(found(), `${dashboard.url}/tasks`);

  await page
    .getByRole("link", { name: "Failed, orders-eu-3, attempt 2 of 3", exact: true })
    .waitFor({ timeout: 20_000 });
  await page.getByRole("link", { name: "Failed, once, attempt 1", exact: true }).waitFor();
  await close();
});

/** Which pixels differ from what is behind them, their mean colour, and that of the one that differs most. */
interface Picture {
  readonly shape: readonly boolean[];
  readonly colour: readonly number[];
  readonly strongest: readonly number[];
  readonly behind: readonly number[];
}

async function picturesOf(page: Page, reader: Page): Promise<ReadonlyMap<string, Picture>> {
  const boxes = await page.evaluate(BOXES);
  const png = (await page.screenshot()).toString("base64");
  const reading = `(${READ_PICTURES})("${png}", ${JSON.stringify(boxes)}, ${SCALE})`;
  return new Map(await reader.evaluate<readonly [string, Picture][]>(reading));
}

const BOXES = `[...document.querySelectorAll("dialog [data-status]")].map((badge) => {
  const { x, y, width, height } = badge.querySelector("svg").getBoundingClientRect();
  return { status: badge.dataset.status, x, y, width, height };
})`;

/** In an empty page: the policy of the dashboard would not let it. Brightness only, so that no colour helps. */
const READ_PICTURES = `async (png, boxes, scale) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  return boxes.map(({ status, x, y, width, height }) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 48, height: 48 });
    const context = canvas.getContext("2d");
    context.drawImage(image, x * scale, y * scale, width * scale, height * scale, 0, 0, 48, 48);
    const { data } = context.getImageData(0, 0, 48, 48);
    const pixels = Array.from({ length: 48 * 48 }, (_, at) => [...data.slice(at * 4, at * 4 + 3)]);
    const brightness = ([red, green, blue]) => 0.299 * red + 0.587 * green + 0.114 * blue;
    const behind = brightness(pixels[0]);
    const away = pixels.map((pixel) => Math.abs(brightness(pixel) - behind));
    const most = Math.max(...away);
    const shape = away.map((far) => far > most / 2);
    const drawn = pixels.filter((_, at) => shape[at]);
    const mean = (part) => Math.round(drawn.reduce((sum, pixel) => sum + pixel[part], 0) / drawn.length);
    const strongest = pixels[away.indexOf(most)];
    return [status, { shape, colour: [mean(0), mean(1), mean(2)], strongest, behind: pixels[0] }];
  });
}`;

/** The part of both that they have in common. */
function likeness(one: readonly boolean[], other: readonly boolean[]): number {
  const both = one.filter((drawn, at) => drawn && other[at] === true).length;
  const either = one.filter((drawn, at) => drawn || other[at] === true).length;
  return both / either;
}

/** As WCAG has it, from 1 to 21. */
function contrast(one: readonly number[], other: readonly number[]): number {
  const [dark = 0, light = 0] = [one, other].map(luminance).toSorted((left, right) => left - right);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function nearest(shape: readonly boolean[], templates: ReadonlyMap<string, Picture>): string {
  const judged = [...templates].map(([status, template]) => ({
    status,
    alike: likeness(shape, template.shape),
  }));
  return judged.toSorted((one, other) => other.alike - one.alike)[0]?.status ?? "";
}

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}
