import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { exclusive, shared } from "../resource.ts";
import { outOfOrder } from "./out-of-order.ts";

const resources = [shared("prod/users"), exclusive("prod/orders")];
const doneAt = (doneVersion: string) => gateView({ resources: { "prod/orders": { doneVersion } } });

it("refuses a version below one that is DONE on one of its resources, and names both", () => {
  expect(outOfOrder(candidate({ version: "1.9", resources }), doneAt("1.10"))).toEqual([
    { code: "OUT_OF_ORDER", resource: "prod/orders", version: "1.9", doneVersion: "1.10" },
  ]);
});

it("is open for the same version and for larger ones", () => {
  expect(outOfOrder(candidate({ version: "1.10", resources }), doneAt("1.10"))).toEqual([]);
  expect(outOfOrder(candidate({ version: "1.10.0", resources }), doneAt("1.10"))).toEqual([]);
  expect(outOfOrder(candidate({ version: "2", resources }), doneAt("1.10"))).toEqual([]);
});

it("is open for what has no version, and for what may start out of order", () => {
  expect(outOfOrder(candidate({ resources }), doneAt("1.10"))).toEqual([]);
  expect(outOfOrder(candidate({ version: "1", outOfOrder: true, resources }), doneAt("1.10"))).toEqual([]);
});

it("lets one go on that was begun before and lost with its instance", () => {
  const lost = candidate({ version: "1", resources });
  const view = gateView({ resources: { "prod/orders": { doneVersion: "2", reservedFor: lost.taskId } } });

  expect(outOfOrder(lost, view)).toEqual([]);
});
