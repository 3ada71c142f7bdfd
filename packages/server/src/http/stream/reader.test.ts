import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTopicReader, type Look } from "./reader.ts";
import { type Topic, topicsOf } from "./topic.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const read = (text: string): Look => ({ kind: "read", reading: { at: "now", text } });

test("a topic is read once for all who watch it, at its pace, and not at all when nobody does", async () => {
  const asked: string[] = [];
  const reader = createTopicReader(async ({ name }) => {
    asked.push(name);
    return await Promise.resolve(read(`${asked.length}`));
  });
  const told: string[] = [];
  const watcher = (who: string) => (_: Topic, look: Look) =>
    void told.push(`${who} ${look.kind === "read" ? look.reading.text : "?"}`);
  const leaveA = reader.watch(topicsOf("overview").topics, watcher("a"));
  await vi.advanceTimersByTimeAsync(0);
  const leaveB = reader.watch(topicsOf("overview").topics, watcher("b"));
  expect(told).toEqual(["a 1", "b 1"]);

  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toHaveLength(2);
  expect(told.slice(2)).toEqual(["a 2", "b 2"]);

  leaveA();
  leaveB();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(2);
});

test("a slow answer is waited for before the next question", async () => {
  let answer: (look: Look) => void = () => {};
  let asked = 0;
  const reader = createTopicReader(async () => {
    asked += 1;
    return await new Promise<Look>((resolve) => {
      answer = resolve;
    });
  });
  const leave = reader.watch(topicsOf("overview").topics, () => {});
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
  answer(read("1"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(2);
  leave();
});

test("after an answer that took long it rests as long, and topics are counted once", async () => {
  let asked = 0;
  const reader = createTopicReader(async () => {
    asked += 1;
    return await new Promise<Look>((resolve) => setTimeout(() => resolve(read("1")), 5_000));
  });
  const leave = reader.watch(topicsOf(["overview", "rules"]).topics, () => {});
  expect(reader.countWith(topicsOf(["rules", "queues"]).topics)).toBe(3);
  await vi.advanceTimersByTimeAsync(9_900);
  expect(asked).toBe(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(asked).toBe(4);
  leave();
  expect(reader.countWith([])).toBe(0);
});

test("who left while a question was under way is told nothing", async () => {
  let answer: (look: Look) => void = () => {};
  const reader = createTopicReader(async () => await new Promise<Look>((resolve) => (answer = resolve)));
  const told: Look[] = [];
  const leave = reader.watch(topicsOf("overview").topics, (_, look) => void told.push(look));
  leave();
  answer(read("1"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(told).toEqual([]);
});
