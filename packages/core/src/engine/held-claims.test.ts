import { describe, expect, it } from "vitest";
import { claimOf } from "../../test/claim-of.ts";
import type { ClaimedJob } from "../store/task-runs/claim.ts";
import { HeldClaims } from "./held-claims.ts";

const SLOTS = 10;
const JOB: ClaimedJob = { handle: "it", overdue: false, cancelRequested: false, ranMs: 0 };

describe("a slot", () => {
  it("is taken from the claim until the end is recorded", () => {
    const held = new HeldClaims();
    const work = held.add(claimOf({ claimNo: 1 }));
    expect(held.freeSlots(SLOTS)).toBe(9);

    held.endExecution(work);
    expect(held.freeSlots(SLOTS)).toBe(9);

    held.remove(work.claim);
    expect(held.freeSlots(SLOTS)).toBe(10);
  });

  it("of one that ignores its signal is taken until it ends, although that was recorded before", () => {
    const held = new HeldClaims();
    const work = held.add(claimOf({ claimNo: 1 }));
    held.markStuck(work);
    held.remove(work.claim);
    expect(held.freeSlots(SLOTS)).toBe(9);

    held.endExecution(work);
    expect(held.freeSlots(SLOTS)).toBe(10);
  });

  it.each<[string, ClaimedJob | null]>([
    ["claimed again", null],
    ["taken to be polled", JOB],
  ])("is given back once by one that has ended and is %s before that is recorded", (_, job) => {
    const held = new HeldClaims();
    const former = held.add(claimOf({ claimNo: 1 }));
    held.endExecution(former);

    const twin = held.add(claimOf({ claimNo: 2, job }));
    held.remove(former.claim);
    held.endExecution(twin);
    held.remove(twin.claim);

    expect(held.freeSlots(SLOTS)).toBe(10);
  });

  it("is given back once by one that still runs when it is claimed again", () => {
    const held = new HeldClaims();
    const former = held.add(claimOf({ claimNo: 1 }));
    const twin = held.add(claimOf({ claimNo: 2 }));
    expect(held.freeSlots(SLOTS)).toBe(8);

    held.endExecution(former);
    held.remove(former.claim);
    expect(held.freeSlots(SLOTS)).toBe(9);

    held.endExecution(twin);
    held.remove(twin.claim);
    expect(held.freeSlots(SLOTS)).toBe(10);
  });

  it("is not taken by a look at an outside job", () => {
    const held = new HeldClaims();
    const poll = held.add(claimOf({ job: JOB }));
    expect(held.freeSlots(SLOTS)).toBe(10);

    held.endExecution(poll);
    held.remove(poll.claim);
    expect(held.freeSlots(SLOTS)).toBe(10);
  });
});

describe("a whole batch", () => {
  it("is all that came with one claim statement", () => {
    const held = new HeldClaims();
    const [one, two] = [held.add(claimOf({ claimNo: 1 })).claim, held.add(claimOf({ claimNo: 1 })).claim];

    expect([held.isWholeBatch([one, two]), held.isWholeBatch([one]), held.isWholeBatch([])]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("is none with one of another, and none once one of it was recorded before", () => {
    const held = new HeldClaims();
    const [one, two] = [held.add(claimOf({ claimNo: 1 })).claim, held.add(claimOf({ claimNo: 1 })).claim];
    const other = held.add(claimOf({ claimNo: 2 })).claim;
    expect(held.isWholeBatch([one, other])).toBe(false);

    held.remove(one);
    expect(held.isWholeBatch([two])).toBe(false);
  });
});

describe("the turn of a line", () => {
  it("begins with a claim and ends 100 ms later, for all that came with it", () => {
    const held = new HeldClaims();
    const { begunAtMs } = held.add(claimOf({ claimNo: 1 }));
    held.add(claimOf({ claimNo: 1 }));

    expect(held.turnEndsAtMs(1)).toBe(begunAtMs + 100);
  });

  it("goes to who goes on in the same slot, with what is left of it", () => {
    const held = new HeldClaims();
    const first = held.add(claimOf({ claimNo: 1 }));
    const endsAtMs = held.turnEndsAtMs(1);
    held.endExecution(first);
    held.remove(first.claim);

    held.add(claimOf({ claimNo: 2 }), endsAtMs);

    expect(held.turnEndsAtMs(2)).toBe(endsAtMs);
  });

  it("is over for a claim of which nothing is held", () => {
    const held = new HeldClaims();
    held.remove(held.add(claimOf({ claimNo: 1 })).claim);

    expect(held.turnEndsAtMs(1)).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe("a request for who goes on in the slot of another", () => {
  it("takes no slot while it is on its way, and is known by its number", () => {
    const held = new HeldClaims();
    const requestNo = held.beginSlotless();
    expect([held.freeSlots(SLOTS), held.isOnItsWay(requestNo)]).toEqual([10, true]);

    held.endRequest(requestNo);
    expect([held.isOnItsWay(requestNo), held.wasAnswered(requestNo)]).toEqual([false, true]);
  });

  it("whose answer was lost is not on its way, and was not answered", () => {
    const held = new HeldClaims();
    const requestNo = held.beginSlotless();

    held.loseRequest(requestNo);

    expect([held.isOnItsWay(requestNo), held.wasAnswered(requestNo)]).toEqual([false, false]);
  });
});
