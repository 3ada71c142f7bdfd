import type { Rig } from "../ha/rig.ts";
import { until } from "../ha/until.ts";

/** Work goes on: so many more have been settled. */
export async function settledMore({ cluster }: Rig, more: number): Promise<void> {
  const before = cluster.count("task_run.settled");
  await until("work goes on", () => cluster.count("task_run.settled") >= before + more, { withinMs: 60_000 });
}
