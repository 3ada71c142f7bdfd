/** Notes every version that a row shows, as long as the page is there. */

import type { Page } from "playwright-core";

const NOTE = `
  globalThis.goneBack = [];
  const newest = new Map();
  const look = () => {
    for (const row of document.querySelectorAll("tr[data-row-version]")) {
      const { taskRun, rowVersion } = row.dataset;
      const version = Number(rowVersion);
      const before = newest.get(taskRun) ?? 0;
      if (version < before) globalThis.goneBack.push(taskRun + ": " + before + ", then " + version);
      newest.set(taskRun, version);
    }
  };
  look();
  new MutationObserver(look).observe(document.body, {
    subtree: true, childList: true, attributes: true, attributeFilter: ["data-row-version", "data-task-run"],
  });
  globalThis.versionsSeen = newest;
`;

export interface NotedVersions {
  /** Rows that showed a smaller version than before, a line each. */
  readonly goneBack: () => Promise<readonly string[]>;
  /** How many rows were looked at. */
  readonly rows: () => Promise<number>;
}

export async function noteRowVersions(page: Page): Promise<NotedVersions> {
  await page.evaluate(NOTE);
  return {
    goneBack: async () => await page.evaluate<readonly string[]>("globalThis.goneBack"),
    rows: async () => await page.evaluate<number>("globalThis.versionsSeen.size"),
  };
}
