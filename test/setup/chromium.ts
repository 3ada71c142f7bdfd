/** One Chromium for all browser tests of a run. */

import type { TestProject } from "vitest/node";
import { locateChromium } from "../browser/locate-chromium.ts";

export function setup(project: TestProject): () => void {
  const located = locateChromium();
  if (located === null) {
    project.provide("chromium", null);
    return () => {};
  }
  const { remove, ...chromium } = located;
  project.provide("chromium", chromium);
  // An interrupted run tears nothing down.
  process.once("exit", remove);
  return () => {
    process.off("exit", remove);
    remove();
  };
}
