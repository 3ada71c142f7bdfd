import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { keyLimit } from "./key-limit.ts";

const ofCustomer = candidate({ concurrencyKey: "customer:7" });

it("is open while nobody with the key is active", () => {
  expect(keyLimit(ofCustomer, gateView())).toEqual([]);
});

it("closes when one with the key is active and nobody has said otherwise", () => {
  const causes = keyLimit(ofCustomer, gateView({ limits: { "key:customer:7": { active: 1 } } }));

  expect(causes).toEqual([{ code: "KEY_LIMIT", concurrencyKey: "customer:7", limit: 1, active: 1 }]);
});

it("is open up to the limit that was set", () => {
  const at = (active: number): readonly unknown[] =>
    keyLimit(ofCustomer, gateView({ limits: { "key:customer:7": { limit: 3, active } } }));

  expect(at(2)).toEqual([]);
  expect(at(3)).toMatchObject([{ code: "KEY_LIMIT", limit: 3, active: 3 }]);
  expect(at(4)).toMatchObject([{ code: "KEY_LIMIT", limit: 3, active: 4 }]);
});

it("is open for a task run without a key", () => {
  expect(keyLimit(candidate(), gateView({ limits: { "key:customer:7": { active: 1 } } }))).toEqual([]);
});
