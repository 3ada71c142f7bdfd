import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { readLines, sayTogether, type ToWarden } from "./warden-messages.ts";

const stop = (id: string): ToWarden => ({ kind: "stop", id, graceMs: 0 });

it("says what is said in one turn in one write, in its order, and the next turn's in another", async () => {
  const writes: string[] = [];
  const say = sayTogether<ToWarden>((text) => writes.push(text));

  say(stop("a"));
  say(stop("b"));
  await turn();
  say(stop("c"));
  await turn();

  expect(writes).toHaveLength(2);
  const heard: ToWarden[] = [];
  const read = readLines<ToWarden>((message) => heard.push(message));
  for (const text of writes) read(text);
  expect(heard).toEqual([stop("a"), stop("b"), stop("c")]);
});
