import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { queueLimit } from "./queue-limit.ts";

const inMail = candidate({ queue: "mail" });

it("is open while fewer than the limit are active", () => {
  expect(queueLimit(inMail, gateView({ limits: { "queue:mail": { limit: 3, active: 2 } } }))).toEqual([]);
});

it("closes when as many as the limit are active, and names the queue and both numbers", () => {
  const causes = queueLimit(inMail, gateView({ limits: { "queue:mail": { limit: 3, active: 3 } } }));

  expect(causes).toEqual([{ code: "QUEUE_LIMIT", queue: "mail", limit: 3, active: 3 }]);
});

it("stays closed while more are active than a lowered or a first limit allows", () => {
  const causes = queueLimit(inMail, gateView({ limits: { "queue:mail": { limit: 1, active: 4 } } }));

  expect(causes).toEqual([{ code: "QUEUE_LIMIT", queue: "mail", limit: 1, active: 4 }]);
});

it("is open for a queue that nobody has given a limit", () => {
  expect(queueLimit(candidate(), gateView())).toEqual([]);
});

it("looks at its own queue only", () => {
  expect(queueLimit(candidate(), gateView({ limits: { "queue:mail": { limit: 1, active: 1 } } }))).toEqual(
    [],
  );
});
