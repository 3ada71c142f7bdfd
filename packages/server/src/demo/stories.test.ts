import type { TaskRun, TaskRunStatus } from "@signalbox/core";
import { describe, expect, test } from "vitest";
import { isDue, STORIES, type Story, versionAt } from "./stories.ts";

const AT = new Date("2026-11-16T12:00:05.000Z");

describe.each(STORIES.map((story) => [story.name, story] as const))("%s", (_, story) => {
  test("knows its own task runs, and nobody else's", () => {
    const own = openOf(story, "PENDING");
    const others = STORIES.filter((other) => other !== story).flatMap((other) => openOf(other, "PENDING"));

    expect(own.every((taskRun) => story.owns(taskRun))).toBe(true);
    expect(others.some((taskRun) => story.owns(taskRun))).toBe(false);
  });

  test("goes on when nothing of it is open, and not while a whole chapter waits", () => {
    expect(isDue(story, [])).toBe(true);
    expect(isDue(story, openOf(story, "PENDING"))).toBe(false);
  });
});

test("a later chapter has the higher version", () => {
  expect(versionAt(AT)).toBe("20261116.43205");
  expect(versionAt(new Date("2026-11-17T00:00:00.000Z"))).toBe("20261117.0");
});

/** The task runs that a chapter becomes. */
function openOf(story: Story, status: TaskRunStatus): readonly TaskRun[] {
  return story.chapter(AT, 0).tasks.map(
    ({ kind, runAt, resources }) =>
      ({
        kind,
        status,
        blockedOn: null,
        runAt: runAt ?? null,
        resources: resources ?? [],
      }) as unknown as TaskRun,
  );
}
