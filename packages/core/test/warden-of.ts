import { readStat } from "../src/executors/process/system-processes.ts";

/** Of those that this process has started the one that the group comes from, by one who forks for it or not. */
export function wardenOf(group: number): number {
  const parent = parentOf(group);
  return parent === process.pid ? group : wardenOf(parent);
}

export function parentOf(pid: number): number {
  const parent = readStat(String(pid))?.parentId ?? 0;
  if (parent <= 1) throw new Error(`Nobody here has started ${pid}`);
  return parent;
}
