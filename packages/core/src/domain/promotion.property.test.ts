/** Random worlds of task runs, judged twice: by `planPromotions` from a snapshot, and by an oracle that counts rows. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectTruth } from "../../test/cause-truth.ts";
import {
  type Active,
  admitted,
  anyWorld,
  collides,
  counts,
  crowd,
  inOrder,
  isAvailableOf,
  isSmaller,
  keptFor,
  look,
  NAMES,
  oracle,
  type Pending,
  place,
  quietWorld,
  RUNS,
  ruleAgainst,
  slotsOf,
  type World,
  wholeLines,
  wishFor,
} from "../../test/gate-worlds.ts";
import { GATE_CODES } from "./gates/gates.ts";
import { type PromotionPlan, planPromotions } from "./promotion.ts";
import type { LimitScope } from "./scope.ts";

/** A queue without a limit counts nobody. */
function limitsOn(one: Pending, { limits }: World): readonly (readonly [LimitScope, number])[] {
  return [...limits].filter(
    ([scope, limit]) => counts(one, scope) && (limit > 0 || !scope.startsWith("queue:")),
  );
}

function always(worlds: fc.Arbitrary<World>, check: (world: World, plan: PromotionPlan) => void): void {
  const property = fc.property(worlds, (world) => check(world, planPromotions(look(world))));
  fc.assert(property, { numRuns: 200 });
}

describe("the random worlds", () => {
  it("lead to every gate, and past them, often enough to mean something", () => {
    const worlds = fc.sample(wholeLines, { numRuns: 300, seed: 1 });
    const verdicts = worlds.flatMap((world) => [...oracle(world).values()]);

    for (const verdict of ["ADMITTED", ...GATE_CODES]) {
      expect(verdicts.filter((one) => one === verdict).length, verdict).toBeGreaterThan(
        verdicts.length / 100,
      );
    }
  });
});

describe("whatever is pending, a plan", () => {
  it("admits exactly those that pass every gate one after another in line order", () => {
    always(wholeLines, (world, plan) => {
      const verdicts = [...oracle(world)];

      expect(plan.promote.map(({ taskRunId }) => taskRunId)).toEqual(
        verdicts.filter(([, verdict]) => verdict === "ADMITTED").map(([taskRunId]) => taskRunId),
      );
      expect([...plan.waiting].map(([taskRunId, { code }]) => [taskRunId, code])).toEqual(
        verdicts.filter(([, verdict]) => verdict !== "ADMITTED"),
      );
    });
  });

  it("never exceeds the limit of a run, a queue or a key by its own promotions", () => {
    always(anyWorld, (world, plan) => {
      for (const [scope, limit] of world.limits) {
        const more = admitted(world, plan).filter((one) => counts(one, scope)).length;
        const before = slotsOf(world, scope).length;
        if (limit > 0 && more > 0) expect(before + more).toBeLessThanOrEqual(limit);
      }
    });
  });

  it("never lets more start than a rate allows, nor a run have more than its share of AVAILABLE", () => {
    always(anyWorld, (world, plan) => {
      const gone = admitted(world, plan);
      for (const [rate, free] of world.freeStarts) {
        expect(gone.filter((one) => one.rate === rate).length).toBeLessThanOrEqual(free);
      }
      for (const runId of RUNS) {
        const more = gone.filter((one) => one.runId === runId).length;
        const before = world.active.filter(isAvailableOf(runId)).length;
        if (more > 0) expect(before + more).toBeLessThanOrEqual(world.share);
      }
    });
  });

  it("admits nobody who is stopped, paused, outside a window or without an executor", () => {
    always(anyWorld, (world, plan) => {
      expect(admitted(world, plan).filter((one) => ruleAgainst(one, world) !== null)).toEqual([]);
    });
  });

  it("never lets two hold a resource of which one wants it alone, nor anybody what is kept for another", () => {
    always(anyWorld, (world, plan) => {
      const holders: (Active | Pending)[] = [...world.active];
      for (const one of admitted(world, plan)) {
        for (const wish of one.resources) {
          expect(holders.filter((holder) => collides(holder, wish))).toEqual([]);
          expect([one.taskId, undefined]).toContain(world.reserved.get(wish.name));
        }
        holders.push(one);
      }
    });
  });

  it("gives each what it asked for, on slots that nobody else has", () => {
    always(anyWorld, (world, plan) => {
      const inUse = NAMES.flatMap((name) => {
        const sharers = world.active.filter((one) => wishFor(one, name)?.mode === "shared");
        return sharers.map((_, i) => `${name}#${i + 1}`);
      }).concat(
        [...world.limits.keys()].flatMap((scope) => slotsOf(world, scope).map((slot) => `${scope}#${slot}`)),
      );
      for (const { taskRunId, limitSlots, rateSlot, resourceSlots } of plan.promote) {
        const [one] = world.pending.filter((row) => row.taskRunId === taskRunId);
        if (one === undefined) throw new Error(`${taskRunId} is not in this world`);
        const limited = limitsOn(one, world);
        expect(limitSlots.map(({ scope }) => scope)).toEqual(limited.map(([scope]) => scope));
        expect(rateSlot?.rate ?? null).toBe(one.rate);
        expect(resourceSlots.map(({ name, slot }) => [name, slot === 0])).toEqual(
          one.resources.map(({ name, mode }) => [name, mode === "exclusive"]),
        );
        for (const { name, wasReserved } of resourceSlots) {
          expect(wasReserved).toBe(world.reserved.get(name) === one.taskId);
        }
        for (const { scope, slot } of limitSlots) {
          expect(slot).toBeLessThan(world.limits.get(scope) || Number.POSITIVE_INFINITY);
        }
        inUse.push(...resourceSlots.map(({ name, slot }) => `${name}#${slot}`));
        inUse.push(...limitSlots.map(({ scope, slot }) => `${scope}#${slot}`));
        if (rateSlot !== null) inUse.push(`rate:${rateSlot.rate}#${rateSlot.slot}`);
      }
      expect(new Set(inUse).size).toBe(inUse.length);
    });
  });

  it("either admits a candidate or says why it waits", () => {
    always(anyWorld, (world, plan) => {
      const decided = [...plan.promote.map(({ taskRunId }) => taskRunId), ...plan.waiting.keys()];

      const asking = look(world).candidates.map(({ taskRunId }) => taskRunId);
      expect(decided.toSorted()).toEqual(asking.toSorted());
    });
  });

  it("names in each cause what really stands in the way", () => {
    always(anyWorld, (world, plan) => {
      for (const [taskRunId, cause] of plan.waiting) {
        const one = world.pending.find((row) => row.taskRunId === taskRunId);
        if (one) expectTruth(cause, { one, world, more: admitted(world, plan) });
      }
    });
  });

  it("lets nobody pass those ahead in the lines of their resources, in sight or not", () => {
    always(crowd, (world, plan) => {
      const stays = world.pending.filter(({ asks, inLine, taskRunId }) =>
        asks ? plan.waiting.get(taskRunId)?.code === "RESOURCE_BUSY" : inLine,
      );
      for (const one of admitted(world, plan)) {
        if (one.resources.some(({ name }) => world.reserved.get(name) === one.taskId)) continue;
        const passed = stays.filter(
          (other) => place(other) < place(one) && one.resources.some((wish) => collides(other, wish)),
        );
        expect(passed).toEqual([]);
      }
    });
  });

  it("never leaves the head of the whole line waiting when every gate is open to it", () => {
    always(anyWorld, (world, plan) => {
      const [head] = inOrder(world.pending);
      if (!head?.asks || world.pending.some((other) => isSmaller(other, head))) return;
      if (oracle({ ...world, pending: [head] }).get(head.taskRunId) !== "ADMITTED") return;

      expect(plan.promote[0]?.taskRunId).toBe(head.taskRunId);
    });
  });

  it("lets everybody through in the end: pass after pass, with what was admitted ended in between", () => {
    always(quietWorld, (world) => {
      let { pending, reserved } = world;
      // A pass may admit nobody when the only one in sight of a line turns out to wait for something else.
      for (let pass = 0; pass < 2 * world.pending.length; pass++) {
        const rest = { ...world, pending, reserved };
        const plan = planPromotions(look(rest));
        const gone = admitted(rest, plan);
        pending = pending
          .filter((one) => !gone.includes(one))
          .map((one) => ({ ...one, inLine: plan.waiting.get(one.taskRunId)?.code === "RESOURCE_BUSY" }));
        reserved = keptFor(pending, rest);
      }

      expect(pending).toEqual([]);
    });
  });
});
