import { expect, it } from "vitest";
import { candidate, gateView } from "../../testing/builders.ts";
import { asRunId } from "../ids.ts";
import { fairShare } from "./fair-share.ts";

const nightly = asRunId("nightly");
const weekly = asRunId("weekly");
const view = gateView({
  fairShare: 20,
  available: new Map([
    [nightly, 20],
    [weekly, 19],
  ]),
});

it("is open while fewer of its run are AVAILABLE than its share", () => {
  expect(fairShare(candidate({ runId: weekly }), view)).toEqual([]);
  expect(fairShare(candidate({ runId: asRunId("new") }), view)).toEqual([]);
});

it("closes when its run has its share, and names the run and both numbers", () => {
  expect(fairShare(candidate({ runId: nightly }), view)).toEqual([
    { code: "FAIR_SHARE", runId: nightly, share: 20, available: 20 },
  ]);
});

it("stays closed while more are AVAILABLE than the share of a cluster that has shrunk", () => {
  const shrunk = gateView({ fairShare: 20, available: new Map([[nightly, 60]]) });

  expect(fairShare(candidate({ runId: nightly }), shrunk)).toMatchObject([{ share: 20, available: 60 }]);
});

it("is open for a task run that stands alone", () => {
  expect(fairShare(candidate(), gateView({ fairShare: 0 }))).toEqual([]);
});
