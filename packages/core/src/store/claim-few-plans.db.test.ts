/** However much lies ready, the short claim looks at no more of it than it could take. */

import { afterAll, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { plansSentBy, reads } from "../../test/query-plans.ts";
import { asInstanceId } from "../domain/ids.ts";
import { IN_INDEX_ORDER } from "./session.ts";
import { claimFew } from "./task-runs/claim-few.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const INSTANCE = asInstanceId("00000000-0000-4000-8000-000000000003");

it.each(["before the server knows how much lies there", "when it knows"])("%s", async (when) => {
  const scheduler = await box.scheduler();
  await scheduler.enqueueMany(Array.from({ length: 5_000 }, (_, n) => echo.task(n)));
  if (when === "when it knows") await box.query("ANALYZE");
  const request = { instanceId: INSTANCE, kinds: ["echo", "other"], freeSlots: 20, requestNo: 1 };

  const plans = await plansSentBy(
    box.pool("planner"),
    async (tx) => await claimFew(tx, request),
    IN_INDEX_ORDER,
  );

  const nodes = plans.get("claimFew") ?? [];
  const byIndex = [
    "ready_pkey",
    "queue_pkey",
    "instance_pkey",
    "task_run_pkey",
    "task_pkey",
    "waiting_parked",
  ];
  expect(new Set(reads(nodes))).toEqual(new Set([...byIndex, "Tid Scan ready"]));
  expect(nodes.filter((node) => node["Index Name"] === "ready_pkey")).toHaveLength(1);
  const look = nodes.find((node) => node["Subplan Name"] === "CTE seen");
  expect(look?.["Node Type"]).toBe("Limit");
  // By the list of their ids, in the order of the index.
  const types = nodes.map((node) => [node["Node Type"], node["Index Name"]]);
  expect(types).toContainEqual(["Index Scan", "task_run_pkey"]);
});
