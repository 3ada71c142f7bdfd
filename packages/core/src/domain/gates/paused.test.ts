import { expect, it } from "vitest";
import { candidate, gateView, NOON } from "../../testing/builders.ts";
import { asRunId } from "../ids.ts";
import { exclusive, shared } from "../resource.ts";
import { paused } from "./paused.ts";

const pause = { since: NOON, by: "eva", reason: "flood" };
const asking = candidate({
  queue: "mail",
  runId: asRunId("nightly"),
  resources: [exclusive("prod/orders"), shared("prod/users")],
});

it("is open while nothing that it belongs to or needs is paused", () => {
  const view = gateView({
    pauses: new Map([
      ["queue:default", pause],
      ["run:weekly", pause],
      ["resource:prod/mail", pause],
      // Of the same name, and something else.
      ["queue:nightly", pause],
      ["resource:mail", pause],
    ]),
  });

  expect(paused(asking, view)).toEqual([]);
});

it.each(["queue:mail", "run:nightly", "resource:prod/orders", "resource:prod/users"] as const)(
  "closes when %s is paused, and says by whom, since when and why",
  (scope) => {
    const causes = paused(asking, gateView({ pauses: new Map([[scope, pause]]) }));

    expect(causes).toEqual([{ code: "PAUSED", scope, since: NOON, by: "eva", reason: "flood" }]);
  },
);

it("gives a cause for each pause that holds it", () => {
  const view = gateView({
    pauses: new Map([
      ["resource:prod/users", pause],
      ["queue:mail", pause],
    ]),
  });

  expect(paused(asking, view)).toMatchObject([{ scope: "queue:mail" }, { scope: "resource:prod/users" }]);
});

it("does not look for the run of a task run that stands alone", () => {
  expect(paused(candidate(), gateView({ pauses: new Map([["run:null", pause]]) }))).toEqual([]);
});
