import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { asTaskRunId } from "../ids.ts";
import { exclusive, shared } from "../resource.ts";
import { versionOrder } from "./version-order.ts";

const older = asTaskRunId("older");
const resources = [exclusive("prod/orders")];

it("keeps a version waiting while a smaller one is open on its resource, and names it", () => {
  const causes = versionOrder(
    candidate({ version: "1.10", resources }),
    gateView({ resources: { "prod/orders": { lowestOpenVersion: { version: "1.9", taskRunId: older } } } }),
  );

  expect(causes).toEqual([
    {
      code: "VERSION_ORDER",
      resource: "prod/orders",
      version: "1.10",
      blocker: older,
      blockerVersion: "1.9",
    },
  ]);
});

it("is open for the smallest version that is open itself", () => {
  const mine = asTaskRunId("mine");

  const causes = versionOrder(
    candidate({ taskRunId: mine, version: "1.9", resources }),
    gateView({ resources: { "prod/orders": { lowestOpenVersion: { version: "1.9", taskRunId: mine } } } }),
  );

  expect(causes).toEqual([]);
});

it("lets two task runs of the same version go", () => {
  const causes = versionOrder(
    candidate({ version: "2", resources }),
    gateView({ resources: { "prod/orders": { lowestOpenVersion: { version: "2", taskRunId: older } } } }),
  );

  expect(causes).toEqual([]);
});

it("is open when no version is open on the resource", () => {
  const causes = versionOrder(candidate({ version: "2", resources }), gateView());

  expect(causes).toEqual([]);
});

it("does not concern a task run without a version", () => {
  const causes = versionOrder(
    candidate({ version: null, resources }),
    gateView({ resources: { "prod/orders": { lowestOpenVersion: { version: "1", taskRunId: older } } } }),
  );

  expect(causes).toEqual([]);
});

it("holds for sharers too", () => {
  const causes = versionOrder(
    candidate({ version: "2", resources: [shared("prod/orders")] }),
    gateView({ resources: { "prod/orders": { lowestOpenVersion: { version: "1", taskRunId: older } } } }),
  );

  expect(causes).toMatchObject([{ blocker: older }]);
});

it("looks at each resource by itself and gives one cause per resource that blocks", () => {
  const oldest = asTaskRunId("oldest");

  const causes = versionOrder(
    candidate({ version: "3", resources: [exclusive("a"), exclusive("b"), shared("c")] }),
    gateView({
      resources: {
        a: { lowestOpenVersion: { version: "2", taskRunId: older } },
        b: { lowestOpenVersion: { version: "3", taskRunId: older } },
        c: { lowestOpenVersion: { version: "1", taskRunId: oldest } },
      },
    }),
  );

  expect(causes).toMatchObject([
    { resource: "a", blocker: older, blockerVersion: "2" },
    { resource: "c", blocker: oldest, blockerVersion: "1" },
  ]);
});

it("lets a task go on that lost its instance, though a smaller version came meanwhile", () => {
  const interrupted = candidate({
    version: "2",
    resources: [exclusive("prod/orders"), shared("prod/users")],
  });
  const smaller = { version: "1", taskRunId: older };

  const causes = versionOrder(
    interrupted,
    gateView({
      resources: {
        "prod/orders": { reservedFor: interrupted.taskId, lowestOpenVersion: smaller },
        "prod/users": { lowestOpenVersion: smaller },
      },
    }),
  );

  expect(causes).toEqual([]);
});
