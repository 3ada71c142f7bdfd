import { describe, expect, it } from "vitest";
import type { Offer } from "../store/task-runs/claim.ts";
import { ClaimFront } from "./claim-front.ts";

const WANTED = 10;
const mail: Offer = { kind: "send", queue: "mail", since: "10:00", upTo: 9, count: WANTED, lastPriority: 5 };
const few: Offer = { kind: "send", queue: "few", since: "09:00", upTo: 9, count: 3, lastPriority: 2 };

function afterWhole(...offers: readonly Offer[]): ClaimFront {
  const front = new ClaimFront();
  front.next(1_000);
  front.gotAll(offers, WANTED);
  return front;
}

describe("a claim", () => {
  it("looks at everything at first, and after one that got less than it wanted", () => {
    const front = new ClaimFront();

    expect(front.next(1_000)).toBeNull();
    expect(front.next(1_001)).toBeNull();
  });

  it("begins in each queue where the last one did that got all: no later than the last priority that it saw there", () => {
    const front = afterWhole(mail, few);

    expect(front.next(1_010)).toEqual([
      { kind: "send", queue: "mail", since: "10:00", upTo: 5 },
      { kind: "send", queue: "few", since: "09:00", upTo: 9 },
    ]);
  });

  it("looks at everything after one that left later priorities out, and had too few of the others", () => {
    const front = afterWhole(mail, few);
    front.next(1_010);

    front.gotAll([{ ...mail, upTo: 5, count: 9 }, few], WANTED);

    expect(front.next(1_020)).toBeNull();
  });

  it("looks at everything now and then, however much there is", () => {
    const front = afterWhole(mail);
    for (let nowMs = 1_010; nowMs < 1_250; nowMs += 10) {
      expect(front.next(nowMs)).not.toBeNull();
      front.gotAll([{ ...mail, upTo: 5 }], WANTED);
    }

    expect(front.next(1_250)).toBeNull();
  });
});

it("says once whether the last claim left something out", () => {
  const front = afterWhole(mail);
  expect(front.wasBounded()).toBe(false);

  front.next(1_010);

  expect([front.wasBounded(), front.wasBounded()]).toEqual([true, false]);
});
