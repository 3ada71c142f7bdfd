import { expect, it } from "vitest";
import { candidate, gateView, NOON } from "../../testing/builders.ts";
import { rateLimit } from "./rate-limit.ts";

const limited = candidate({ rate: "sms" });

it("is open while a slot is free", () => {
  expect(rateLimit(limited, gateView({ rates: { sms: { amount: 2, freeSlots: [1] } } }))).toEqual([]);
});

it("closes when every slot is taken, and says when the next one is free", () => {
  const nextFreeAt = new Date(NOON.getTime() + 400);

  const causes = rateLimit(
    limited,
    gateView({ rates: { sms: { amount: 2, perMs: 1_000, freeSlots: [], nextFreeAt } } }),
  );

  expect(causes).toEqual([{ code: "RATE_LIMIT", rate: "sms", amount: 2, perMs: 1_000, freeAt: nextFreeAt }]);
});

it("does not guess when a slot is free that somebody has taken and not started with", () => {
  const causes = rateLimit(limited, gateView({ rates: { sms: { freeSlots: [], nextFreeAt: null } } }));

  expect(causes).toMatchObject([{ code: "RATE_LIMIT", freeAt: null }]);
});

it("is open for a task run without a rate", () => {
  expect(rateLimit(candidate(), gateView({ rates: { sms: { freeSlots: [] } } }))).toEqual([]);
});
