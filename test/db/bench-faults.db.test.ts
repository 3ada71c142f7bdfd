/** What makes a round of the benchmark void, read from stamps that are planted here. */

import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import type { Database } from "../../bench/src/database.ts";
import { gateFaults } from "../../bench/src/gate-faults.ts";
import { stayFaults } from "../../bench/src/stay-faults.ts";

const SINCE = "2030-01-01T00:00:00Z";
const INSTANCE = "00000000-0000-4000-8000-000000000001";
const OTHER = "00000000-0000-4000-8000-000000000002";
const RUN = "00000000-0000-4000-8000-000000000003";

/** In seconds after `SINCE`. */
interface Stay {
  readonly from: number;
  readonly to: number;
  readonly by?: string;
  readonly resource?: string;
  readonly version?: number;
  readonly key?: string;
  readonly run?: string;
}

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase(inject("adminUrl"));
  const { client, url } = testDatabase;
  database = {
    name: new URL(url).pathname.slice(1),
    url,
    query: async (text, values = []) => (await client.query(text, [...values])).rows,
    drop: async () => {},
  };
});

afterAll(async () => {
  await testDatabase.drop();
});

beforeEach(async () => {
  await testDatabase.clear();
});

describe("stays on slots", () => {
  const worked = { since: SINCE, slots: 2, calls: 3 };

  it("are right where one begins in the instant in which another ends", async () => {
    await plant({ from: 0, to: 2 }, { from: 1, to: 3 }, { from: 2, to: 4 });

    expect(await stayFaults(database, worked)).toEqual([]);
  });

  it("are too many where a third begins before one has ended", async () => {
    await plant({ from: 0, to: 3 }, { from: 1, to: 3 }, { from: 2, to: 4 });

    expect(await stayFaults(database, worked)).toEqual(["3 were RUNNING at once on 2 slots"]);
  });

  it("count for each instance by itself", async () => {
    await plant({ from: 0, to: 3 }, { from: 1, to: 3 }, { from: 2, to: 4, by: OTHER });

    expect(await stayFaults(database, worked)).toEqual([]);
  });

  it("leave out what was claimed before the round", async () => {
    await plant({ from: -1, to: 9 }, { from: 0, to: 3 }, { from: 1, to: 3 });

    expect(await stayFaults(database, { ...worked, calls: 2 })).toEqual([]);
  });

  it("are as many as handlers were called", async () => {
    await plant({ from: 0, to: 1 });

    expect(await stayFaults(database, worked)).toEqual(["3 were called and 1 are DONE"]);
  });
});

describe("stays behind gates", () => {
  it("are right one after the other, versions in order, two of one version", async () => {
    await plant(
      { from: 0, to: 1, resource: "a", version: 9 },
      { from: 1, to: 2, resource: "a", version: 10 },
      { from: 2, to: 3, resource: "a", version: 10 },
      { from: 0, to: 3, resource: "b", version: 1 },
    );

    expect(await gateFaults(database, { runLimit: 1, keyLimit: 1 }, SINCE)).toEqual([]);
  });

  it("do not share a resource, also where none is numbered", async () => {
    await plant({ from: 0, to: 2, resource: "a" }, { from: 1, to: 3, resource: "a" });

    expect(await gateFaults(database, {}, SINCE)).toEqual(["1 shared a resource"]);
  });

  it("do not start after a larger version, however long ago that was", async () => {
    await plant(
      { from: 0, to: 1, resource: "a", version: 3 },
      { from: 1, to: 2, resource: "a", version: 1 },
      { from: 2, to: 3, resource: "a", version: 2 },
    );

    expect(await gateFaults(database, {}, SINCE)).toEqual(["2 started after a larger version"]);
  });

  it("are not more of a run or of a key than its limit", async () => {
    await plant(
      { from: 0, to: 2, run: RUN, key: "k" },
      { from: 0, to: 2, run: RUN, key: "k" },
      { from: 1, to: 3, key: "k" },
      { from: 2, to: 3, run: RUN },
    );

    expect(await gateFaults(database, { runLimit: 2, keyLimit: 3 }, SINCE)).toEqual([]);
    expect(await gateFaults(database, { runLimit: 1, keyLimit: 2 }, SINCE)).toEqual([
      "2 at once of one run_id, limit 1",
      "3 at once of one concurrency_key, limit 2",
    ]);
  });
});

async function plant(...stays: readonly Stay[]): Promise<void> {
  for (const { from, to, by = INSTANCE, resource, version, key, run } of stays) {
    await database.query(
      `WITH task AS (
         INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated, resources, version, concurrency_key, run_id)
         VALUES (signalbox.new_id(), 'nothing', '', 'null', 5, '{}', true, $4, $5, $6, $7) RETURNING id
       )
       INSERT INTO signalbox.task_run (id, task_id, run_id, kind, priority, attempt, gated, status, outcome, claim_no, claimed_by,
                                       enqueued_at, available_at, claimed_at, finished_at)
       SELECT signalbox.new_id(), id, $7, 'nothing', 5, 1, true, 'DONE', 'SUCCEEDED', 1, $3,
              $8::timestamptz, $8::timestamptz, $8::timestamptz + make_interval(secs => $1), $8::timestamptz + make_interval(secs => $2)
         FROM task`,
      [
        from,
        to,
        by,
        JSON.stringify(resource === undefined ? [] : [{ name: resource, mode: "exclusive" }]),
        version === undefined ? null : [version],
        key ?? null,
        run ?? null,
        SINCE,
      ],
    );
  }
}
