/** A few tasks that stand in each other's way at every gate, for tests that do something with them at the same moment. */

import type { RunId } from "../src/domain/ids.ts";
import { exclusive, shared } from "../src/domain/resource.ts";
import type { Enqueued } from "../src/engine/scheduler-face.ts";
import { defineTask, type TaskDefinition } from "../src/executors/define-task.ts";
import type { ManualScheduler } from "../src/testing/manual-scheduler.ts";

/** A kind for each scene, so that an instance claims nothing that another scene has left behind. */
export const SCENE_KINDS: readonly TaskDefinition<unknown>[] = Array.from({ length: 80 }, (_, index) =>
  defineTask({ kind: `scene-${index}`, run: (input) => input }),
);

export interface Scene {
  readonly kind: string;
  readonly runId: RunId;
  readonly first: Enqueued;
  readonly second: Enqueued;
  readonly third: Enqueued;
}

/**
 * A run of three with a limit of two: the first and the third want one resource alone, in the order of their
 * versions; the second and the third share another one, which somebody outside the run wants alone.
 */
export async function enqueueScene(scheduler: ManualScheduler, number: number): Promise<Scene> {
  const kind = SCENE_KINDS[number];
  if (kind === undefined) throw new Error("More scenes than kinds");
  const [x, y] = [`x${number}`, `y${number}`];
  const retry = { attempts: 2, backoff: { firstMs: 0 } };
  const { runId, taskRuns } = await scheduler.enqueueMany(
    [
      kind.task("first", { resources: [exclusive(x)], version: "1", retry }),
      kind.task("second", { resources: [shared(y)], retry }),
      kind.task("third", { resources: [exclusive(x), shared(y)], version: "2", retry }),
    ],
    { run: { title: "scene", limit: 2 } },
  );
  await scheduler.enqueue(kind.task("alone", { resources: [exclusive(y)], retry }));
  await scheduler.enqueue(kind.task("free", { retry }));
  const [first, second, third] = taskRuns;
  if (runId === null || first === undefined || second === undefined || third === undefined)
    throw new Error("The scene is incomplete");
  return { kind: kind.kind, runId, first, second, third };
}
