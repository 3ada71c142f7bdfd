/** The product and the oracle, side by side. */

import type { Coverage } from "./coverage.ts";
import type { Model, ModelInstance, ModelRun, ModelTask } from "./model.ts";
import type { Rig, RigInstance } from "./rig.ts";
import type { Step, StepOf } from "./steps.ts";

export interface Scene {
  readonly rig: Rig;
  readonly model: Model;
  readonly coverage: Coverage;
}

/** Does a step to both and compares the answers. False: there was nothing to do it to. */
export type Command<Name extends Step["do"]> = (scene: Scene, step: StepOf<Name>) => Promise<boolean>;

export function pick<Item>(items: readonly Item[], which: number): Item | null {
  return items[which % Math.max(1, items.length)] ?? null;
}

export function pickTask({ model }: Scene, which: number): ModelTask | null {
  // Counted from the newest: what came last is what the sequence is about.
  return pick(model.tasks.toReversed(), which);
}

/** From the newest on, as tasks are. */
export function pickRun({ model }: Scene, which: number): ModelRun | null {
  return pick(model.runs.toReversed(), which);
}

interface Chosen {
  readonly instance: RigInstance;
  readonly known: ModelInstance;
}

/** One whose process is there; a dead one only as long as it has something to say. */
export function pickInstance(scene: Scene, which: number): Chosen | null {
  return choose(scene, which, ({ state, held }) => state !== "DEAD" || held.size > 0);
}

/** One that believes to run something, whether or not it still does. */
export function pickHolder(scene: Scene, which: number): Chosen | null {
  return choose(scene, which, ({ held }) => held.size > 0);
}

function choose(
  { rig, model }: Scene,
  which: number,
  suits: (instance: ModelInstance) => boolean,
): Chosen | null {
  const known = pick(
    model.instances.filter((each) => !each.gone && suits(each)),
    which,
  );
  const instance = rig.instances.find(({ instanceId }) => instanceId === known?.instanceId);
  return known === null || instance === undefined ? null : { instance, known };
}
