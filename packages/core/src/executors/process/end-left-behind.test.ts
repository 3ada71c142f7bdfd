import { expect, it } from "vitest";
import { endUnreported } from "./end-left-behind.ts";
import type { Look } from "./start-mark.ts";

/** There is no such group: what is to be ended here is only found. */
const groupId = 4_000_000;
const nothing: Look = { found: [], isSure: true };

/** After how many looks each is said to have ended. The last look is what is seen from then on. */
async function endsAfter(
  ids: readonly string[],
  looks: readonly Look[],
  sureWithinMs?: number,
): Promise<Readonly<Record<string, number>>> {
  const ends: Record<string, number> = {};
  let count = 0;
  const look = (): Look => looks[Math.min(count++, looks.length - 1)] ?? nothing;
  await endUnreported(new Set(ids), look, (id) => void (ends[id] = count), sureWithinMs);
  return ends;
}

it("counts as ended what was not begun", async () => {
  expect(await endsAfter(["a", "b"], [nothing])).toEqual({ a: 1, b: 1 });
});

it("has not ended as long as it is found, and nobody else waits for it", async () => {
  const looks = [{ found: [{ id: "a", groupId }], isSure: true }, nothing];

  expect(await endsAfter(["a", "b"], looks)).toEqual({ a: 2, b: 1 });
});

it("has not ended while there is a child that is no program yet: it may be any", async () => {
  const looks = [{ found: [{ id: null, groupId }], isSure: true }, nothing];

  expect(await endsAfter(["a", "b"], looks)).toEqual({ a: 2, b: 2 });
});

it("is looked for again while something could not be seen", async () => {
  const unclear: Look = { found: [], isSure: false };

  expect(await endsAfter(["a"], [unclear, { found: [{ id: "a", groupId }], isSure: true }, nothing])).toEqual(
    { a: 3 },
  );
  // But not for ever.
  expect(Object.keys(await endsAfter(["a"], [unclear], 0))).toEqual(["a"]);
});
