import type { ExecutionContext } from "@signalbox/core";
import { beforeEach, describe, expect, test } from "vitest";
import { applyMigration, backfill, DEMO_TASKS } from "./tasks.ts";

const GREEN = "\u001b[32m";
const RED = "\u001b[31m";
let printed = "";

beforeEach(() => {
  printed = "";
});

describe("a task of the demo", () => {
  test.each(DEMO_TASKS.map((task) => [task.kind, task] as const))(
    "%s prints lines, the last in a colour",
    async (_, task) => {
      await task.execute({ seconds: 0 }, contextOf(1));

      const lines = printed.trimEnd().split("\n");
      expect(lines.length).toBeGreaterThan(2);
      expect(lines.at(-1)).toContain(GREEN);
    },
  );

  test("that takes long moves a progress line on in its place", async () => {
    await backfill.execute({ seconds: 0 }, contextOf(1));

    expect(printed).toMatch(/\n(?:batch \d of 10\r){9}batch 10 of 10\n/);
  });

  test("that fails says so in a line of its own, and the next attempt does not", async () => {
    await expect(backfill.execute({ seconds: 0, failFirst: true }, contextOf(1))).rejects.toThrow("deadlock");
    expect(printed).toContain(`\n${RED}ERROR: deadlock detected`);

    printed = "";
    await backfill.execute({ seconds: 0, failFirst: true }, contextOf(2));
    expect(printed).not.toContain(RED);
  });

  test("takes the time it was given, and half of it where it fails", async () => {
    const tookMs = async (work: { readonly seconds: number; readonly failFirst?: boolean }) => {
      const from = performance.now();
      await applyMigration.execute(work, contextOf(1)).catch(() => {});
      return performance.now() - from;
    };

    expect(await tookMs({ seconds: 0.4 })).toBeGreaterThan(390);
    expect(await tookMs({ seconds: 0.4, failFirst: true })).toBeGreaterThan(190);
  });
});

/** A text is a line; bytes are as they are. */
function contextOf(attempt: number): ExecutionContext {
  const log: ExecutionContext["log"] = (content) => {
    printed += typeof content === "string" ? `${content}\n` : Buffer.from(content).toString();
  };
  return { attempt, signal: new AbortController().signal, log } as ExecutionContext;
}
