import { afterAll, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../../test/fixture.ts";
import { sql } from "../sql.ts";
import { countDownRuns } from "./count-down.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

it("a run that goes on is counted down without a new entry in any index of it", async () => {
  const scheduler = await box.scheduler();
  const { runId } = await scheduler.enqueueMany([echo.task(1), echo.task(2), echo.task(3)], {
    run: { title: "nightly" },
  });
  if (runId === null) throw new Error("No run");

  const hot = await box.pool("settler").transaction(async (tx) => {
    await countDownRuns(tx, [{ runId, status: "DONE" }]);
    await countDownRuns(tx, [{ runId, status: "FAILED" }]);
    const [row] = await tx.query(
      sql<{ hot: number }>("hotUpdates")`
        SELECT pg_stat_get_xact_tuples_hot_updated('signalbox.run'::regclass)::integer AS hot
      `,
    );
    return row?.hot;
  });

  expect(hot).toBe(2);
});
