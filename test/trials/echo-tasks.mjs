/** What `serve --tasks` is given where anything may be asked of it: a task that ends at once, whatever it gets. */

import { defineTask } from "@signalbox/core";

// oxlint-disable-next-line import/no-default-export -- `--tasks` takes the default export of a module
export default [defineTask({ kind: "echo", run: (input) => input })];
