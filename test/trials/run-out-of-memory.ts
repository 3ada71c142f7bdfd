/** An instance with little memory is given work that needs more, until it dies of it. */

import type { WorkInput } from "../ha/instance-messages.ts";
import type { Rig } from "../ha/rig.ts";
import { until } from "../ha/until.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;

export async function runOutOfMemory(
  { cluster, scheduler }: Rig,
  { times }: { readonly times: number },
): Promise<Shown> {
  const rescuedBefore = cluster.count("task_run.rescued");
  const rescued = (): number => cluster.count("task_run.rescued") - rescuedBefore;
  const input: WorkInput = { ms: 50 };
  for (let deaths = 0; deaths < times; deaths += 1) {
    const small = await cluster.add({ nodeOptions: ["--max-old-space-size=48"] });
    small.expectEnd();
    await until(
      "the small one has eaten too much",
      async () => {
        if (small.state === "ended") return true;
        await scheduler.enqueueMany(
          Array.from({ length: 2 }, () => ({ kind: "hungry", input, priority: 0 })),
        );
        return false;
      },
      { withinMs: WITHIN_MS, everyMs: 1_000 },
    );
  }
  await until("what it ran is rescued", () => rescued() > 0, { withinMs: WITHIN_MS });
  return { faults: { "out of memory": times }, paths: { rescued: rescued() } };
}
