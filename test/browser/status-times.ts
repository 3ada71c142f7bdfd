/** When a page came to show which status, and how long after the change in the database that was. */

import type { TaskRun } from "@signalbox/contract";
import type { Page } from "playwright-core";

export interface SeenStatus {
  readonly status: string;
  readonly word: string;
  readonly hasIcon: boolean;
  readonly at: number;
}

/** Notes every status that the place shows from now on, as long as the page is there. */
export async function noteStatuses(
  page: Page,
  selector: string,
): Promise<() => Promise<readonly SeenStatus[]>> {
  await page.evaluate(`
    const seen = [];
    const look = () => {
      const badge = document.querySelector(${JSON.stringify(selector)});
      if (badge === null || badge.dataset.status === seen.at(-1)?.status) return;
      const icon = badge.querySelector("svg")?.getBoundingClientRect();
      seen.push({ status: badge.dataset.status, word: badge.innerText, hasIcon: icon?.width > 0, at: Date.now() });
    };
    look();
    new MutationObserver(look).observe(document.body, {
      subtree: true, childList: true, attributes: true, attributeFilter: ["data-status"],
    });
    globalThis.statusesSeen = seen;
  `);
  return async () => await page.evaluate<readonly SeenStatus[]>("globalThis.statusesSeen");
}

/** Milliseconds from the stamp that each status left on the row to the page that shows it. Both clocks are this machine's. */
export function lagsOf(seen: readonly SeenStatus[], taskRun: TaskRun): Readonly<Record<string, number>> {
  const stamps: Readonly<Record<string, string | null>> = {
    PENDING: taskRun.enqueuedAt,
    AVAILABLE: taskRun.availableAt,
    RUNNING: taskRun.claimedAt,
    DONE: taskRun.finishedAt,
  };
  return Object.fromEntries(seen.map(({ status, at }) => [status, at - Date.parse(stamps[status] ?? "")]));
}

/** Of each status the middle one: what else the machine does at a moment is not the page's. */
export function middleLags(
  lives: readonly Readonly<Record<string, number>>[],
): Readonly<Record<string, number>> {
  const statuses = Object.keys(lives[0] ?? {});
  return Object.fromEntries(
    statuses.map((status) => {
      const lags = lives.map((life) => life[status] ?? Number.NaN).toSorted((one, other) => one - other);
      return [status, lags[Math.floor(lags.length / 2)] ?? Number.NaN];
    }),
  );
}
