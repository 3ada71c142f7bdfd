import { describe, expect, it } from "vitest";
import { claimOf } from "../../test/claim-of.ts";
import { asInstanceId, asTaskRunId } from "../domain/ids.ts";
import { decide } from "../domain/settlement.ts";
import type { Finished } from "./finished.ts";
import { HeldClaims } from "./held-claims.ts";
import { Unrecorded } from "./unrecorded.ts";

const held = new HeldClaims();

function ended(id: string, claimNo = 1): Finished {
  const claim = claimOf({ taskRunId: asTaskRunId(id), claimNo });
  const decision = decide({ kind: "succeeded", output: null }, claim.policy, claim, 0);
  return { claim, claimedBy: asInstanceId("i"), decision, outside: false, held, ranMs: 0 };
}

function unrecordedOf(count: number): Unrecorded {
  const unrecorded = new Unrecorded();
  for (let n = 0; n < count; n += 1) unrecorded.add(ended(`${n}`));
  return unrecorded;
}

function idsOf(finished: readonly Finished[]): readonly string[] {
  return finished.map(({ claim }) => claim.taskRunId);
}

describe("beside a batch that is under way", () => {
  it("goes another one, with nothing of it", () => {
    const unrecorded = unrecordedOf(120);

    const first = unrecorded.take(60);
    const second = unrecorded.take(60);

    expect(new Set([...idsOf(first.finished), ...idsOf(second.finished)]).size).toBe(120);
    expect(unrecorded.take(60).finished).toEqual([]);
  });

  it("nothing goes while there is little: it goes together when that one is back", () => {
    const unrecorded = unrecordedOf(60);
    const first = unrecorded.take(50);

    expect(unrecorded.take(50).finished).toEqual([]);
    expect(unrecorded.left).toBe(10);

    unrecorded.remove(first);
    expect(unrecorded.take(50).finished).toHaveLength(10);
  });

  it("no other claim of one of its task runs goes: what becomes of the first is known before", () => {
    const unrecorded = unrecordedOf(1);
    const first = unrecorded.take(100);
    unrecorded.add(ended("0", 2));
    for (let n = 1; n < 60; n += 1) unrecorded.add(ended(`${n}`));

    const second = unrecorded.take(100);
    expect(idsOf(second.finished)).not.toContain("0");
    expect(second.finished).toHaveLength(59);

    unrecorded.remove(second);
    expect(unrecorded.take(100).finished).toEqual([]);
    unrecorded.remove(first);
    expect(unrecorded.take(100).finished).toMatchObject([{ claim: { claimNo: 2 } }]);
  });

  it("nothing goes that was refused", () => {
    const unrecorded = unrecordedOf(1);
    unrecorded.refuse(unrecorded.take(1));
    unrecorded.add(ended("1"));
    const other = unrecorded.take(1);

    expect(idsOf(other.finished)).toEqual(["1"]);
    expect(unrecorded.take(1).finished).toEqual([]);
    expect([unrecorded.left, unrecorded.isRefused]).toEqual([0, false]);

    unrecorded.remove(other);
    expect([unrecorded.left, unrecorded.isRefused]).toEqual([1, true]);
    expect(idsOf(unrecorded.take(1).finished)).toEqual(["0"]);
  });
});

describe("a batch that failed", () => {
  it("goes again, before what came after it", () => {
    const unrecorded = unrecordedOf(4);
    unrecorded.putBack(unrecorded.take(2));

    expect(idsOf(unrecorded.take(4).finished)).toEqual(["0", "1", "2", "3"]);
  });

  it("goes one by one where a row of it was refused, and what is refused then goes last", () => {
    const unrecorded = unrecordedOf(3);
    unrecorded.refuse(unrecorded.take(2));
    const first = unrecorded.take(10);
    expect(idsOf(first.finished)).toEqual(["0"]);
    unrecorded.refuse(first);
    const second = unrecorded.take(10);
    expect(idsOf(second.finished)).toEqual(["1"]);

    // Nobody knows what became of it: it still goes by itself.
    unrecorded.putBack(second);
    expect(idsOf(unrecorded.take(10).finished)).toEqual(["1"]);
  });
});
