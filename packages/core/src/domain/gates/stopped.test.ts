import { expect, it } from "vitest";
import { candidate, gateView, NOON } from "../../testing/builders.ts";
import { asTaskId } from "../ids.ts";
import { stopped } from "./stopped.ts";

const asking = candidate();

it("is open without a stop, and for a stop on another task", () => {
  const elsewhere = new Map([[asTaskId("another"), [{ code: "APPROVAL", detail: null, since: NOON }]]]);

  expect(stopped(asking, gateView())).toEqual([]);
  expect(stopped(asking, gateView({ stops: elsewhere }))).toEqual([]);
});

it("gives a cause for each stop, with the code and the words of whoever put it", () => {
  const view = gateView({
    stops: new Map([
      [
        asking.taskId,
        [
          { code: "APPROVAL", detail: "by two people", since: NOON },
          { code: "STAGE_ORDER", detail: null, since: NOON },
        ],
      ],
    ]),
  });

  expect(stopped(asking, view)).toEqual([
    { code: "STOPPED", taskId: asking.taskId, stop: "APPROVAL", detail: "by two people", since: NOON },
    { code: "STOPPED", taskId: asking.taskId, stop: "STAGE_ORDER", detail: null, since: NOON },
  ]);
});
