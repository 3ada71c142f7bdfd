/** What `serve --tasks` is given in tests: a task that ends when a file is there. */

import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { defineTask } from "@signalbox/core";

const waitForFile = defineTask({
  kind: "wait-for-file",
  run: async ({ file }, { signal }) => {
    while (!existsSync(file)) await wait(20, undefined, { signal });
    return "seen";
  },
});

// oxlint-disable-next-line import/no-default-export -- `--tasks` takes the default export of a module
export default [waitForFile];
