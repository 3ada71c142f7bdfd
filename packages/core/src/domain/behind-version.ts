import type { ResourceName } from "./resource.ts";
import type { ResolvedTask } from "./task-spec.ts";
import { compareVersions, type Version } from "./version.ts";

/**
 * Of tasks that come together: where each waits for a smaller version that comes with it, or null. It needs no pass to find
 * that out, and the end of the other wakes it. Not where it is stopped too: that is what it waits for first.
 */
export function placesBehindVersions(tasks: readonly ResolvedTask[]): readonly (ResourceName | null)[] {
  const smallest = new Map<ResourceName, Version>();
  for (const { version, resources } of tasks) {
    if (version === null) continue;
    for (const { name } of resources) {
      const known = smallest.get(name);
      if (known === undefined || compareVersions(version, known) < 0) smallest.set(name, version);
    }
  }
  return tasks.map(({ version, resources, stops }) => {
    if (version === null || stops.length > 0) return null;
    const behind = resources.find(({ name }) => compareVersions(version, smallest.get(name) ?? version) > 0);
    return behind?.name ?? null;
  });
}
