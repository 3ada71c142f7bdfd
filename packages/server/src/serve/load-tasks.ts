/** The tasks of a user, from a module whose default export is a list of what defineTask() and defineProcess() make. */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Executor } from "@signalbox/core";
import { UsageError } from "../usage-error.ts";

/** What the members must look like, the scheduler says itself. */
export async function loadTasks(file: string): Promise<readonly Executor[]> {
  const { default: tasks } = await importFrom(file);
  if (Array.isArray(tasks) && tasks.length > 0) return tasks as readonly Executor[];
  throw new UsageError(
    `--tasks ${file}: its default export must be a list of what defineTask() and defineProcess() make`,
  );
}

async function importFrom(file: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown };
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--tasks ${file} cannot be loaded: ${problem}`);
  }
}
