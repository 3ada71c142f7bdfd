/** Free slots are below the limit, taken by nobody, and as many as are wanted or as there is room for. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import type { LimitSnapshot } from "../../domain/promotion-snapshot.ts";
import type { LimitScope } from "../../domain/scope.ts";
import { loadFreeSlots, loadTakenSlots } from "./limits.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

interface Given {
  readonly limit: number;
  readonly taken: readonly number[];
  readonly wanted: number;
}

async function limitOf(scope: LimitScope, wanted: number): Promise<LimitSnapshot | undefined> {
  const pool = box.pool("promoter");
  const limits = await loadFreeSlots(pool, await loadTakenSlots(pool, [scope]), () => wanted);
  return limits.get(scope);
}

async function freeSlots({ limit, taken, wanted }: Given): Promise<unknown> {
  await box.query("INSERT INTO signalbox.queue (name, slot_limit) VALUES ('mail', $1)", [limit]);
  await box.query(
    `INSERT INTO signalbox.hold (scope, slot, task_run_id)
     SELECT 'queue:mail', slot, gen_random_uuid() FROM unnest($1::integer[]) AS slot`,
    [taken],
  );
  return await limitOf("queue:mail", wanted);
}

describe("the free slots of a limit", () => {
  it.each<[string, Given, number[]]>([
    ["where nobody has one are the first", { limit: 5, taken: [], wanted: 3 }, [0, 1, 2]],
    [
      "behind the last one, while there are enough of them",
      { limit: 9, taken: [0, 3], wanted: 3 },
      [4, 5, 6],
    ],
    [
      "between those that are taken, and then behind them",
      { limit: 6, taken: [0, 2, 4], wanted: 4 },
      [1, 3, 5],
    ],
    ["of a long gap are only the first", { limit: 9, taken: [7, 8], wanted: 2 }, [0, 1]],
    ["are no more than wanted", { limit: 6, taken: [0, 2, 4], wanted: 2 }, [1, 3]],
    ["are none where the limit is reached", { limit: 3, taken: [0, 1, 2], wanted: 5 }, []],
    ["are none where it was lowered and as many are above it", { limit: 3, taken: [0, 5, 6], wanted: 5 }, []],
    [
      "of one that was lowered are as many as it has room for",
      { limit: 4, taken: [0, 5, 6], wanted: 5 },
      [1],
    ],
    ["go up to the limit and no further", { limit: 3, taken: [1], wanted: 5 }, [0, 2]],
  ])("%s", async (_, given, free) => {
    const { limit, taken } = given;
    expect(await freeSlots(given)).toEqual({ limit, active: taken.length, freeSlots: free });
  });

  // From here on they are not read one by one.
  const MANY = Array.from({ length: 1_200 }, (_, slot) => slot + 3);
  it.each<[string, Given, number[]]>([
    ["behind the last one", { limit: 5_000, taken: MANY, wanted: 2 }, [1_203, 1_204]],
    ["before and behind them", { limit: 1_205, taken: MANY, wanted: 9 }, [0, 1, 2, 1_203, 1_204]],
    ["no more than wanted", { limit: 1_205, taken: MANY, wanted: 4 }, [0, 1, 2, 1_203]],
    ["none where it was lowered", { limit: 1_100, taken: MANY, wanted: 4 }, []],
  ])("where very many are taken are %s", async (_, given, free) => {
    const { limit, taken } = given;
    expect(await freeSlots(given)).toEqual({ limit, active: taken.length, freeSlots: free });
  });

  it("of a run without a limit are behind the last one, and nobody is counted", async () => {
    const runId = await box.value<string>(
      "INSERT INTO signalbox.run (id, title, task_limit, open_tasks) VALUES (signalbox.new_id(), 'x', 0, 1) RETURNING id",
    );
    await box.query(
      "INSERT INTO signalbox.hold (scope, slot, task_run_id) VALUES ($1, 7, gen_random_uuid())",
      [`run:${runId}`],
    );

    expect(await limitOf(`run:${runId}`, 2)).toEqual({ limit: 0, active: 0, freeSlots: [8, 9] });
  });
});
