/** Holds the figures of docs/guide/operations.md against the code: an operator plans with them. */
import { describe, expect, test } from "vitest";
import { resolveSettings } from "../../packages/core/src/engine/settings.ts";
import { valueOf } from "../../scripts/render-limits.ts";
import { read, tableUnder } from "./markdown.ts";

const CORE = "packages/core/src";
const page = read("docs/guide/operations.md").replaceAll(/\s+/g, " ");
const settings = resolveSettings({ databaseUrl: "postgres://localhost/any" }, "any");

function numberAt(file: string, name: string): number {
  return Number(valueOf(`${CORE}/${file}`, name).replaceAll(",", ""));
}

describe("docs/guide/operations.md", () => {
  const given = read("docs/guide/operations.md");

  test("has the defaults of the settings that it names", () => {
    const defaults: Readonly<Record<string, unknown>> = { ...settings };
    const rows = tableUnder(given, "The settings that matter").map(([option = "", value]) => [option, value]);

    expect(rows.length).toBeGreaterThan(8);
    expect(rows).toEqual(rows.map(([option = ""]) => [option, String(defaults[option])]));
  });

  test("has the times after which a silent instance is given up", () => {
    const { leaseMs, graceMs } = settings;
    const trusted = numberAt("engine/lease-keeper.ts", "TRUSTED_PART");
    const term = numberAt("executors/process/group-watch.ts", "TERM_PART");
    const kill = numberAt("executors/process/group-watch.ts", "KILL_PART");
    const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
    const rows = tableUnder(given, "Silent instances: killed, frozen, cut off").map(([after]) => after);

    expect(term).toBe(trusted);
    expect(rows).toEqual([leaseMs * trusted, leaseMs * kill, leaseMs, leaseMs + graceMs].map(seconds));
  });

  test("has the outage that it says nothing is given up in", () => {
    const { leaseMs, beatMs } = settings;
    const trustedMs = leaseMs * numberAt("engine/lease-keeper.ts", "TRUSTED_PART");
    const hangsMs = Math.max(beatMs, leaseMs / 4);

    expect(page).toContain(`is away for up to ${(trustedMs - 2 * beatMs) / 1_000} s`);
    expect(page).toContain(`${(trustedMs - beatMs - hangsMs) / 1_000} s where connections hang`);
    expect(read(`${CORE}/engine/lease-thread.ts`)).toContain("Math.max(data.beatMs, data.leaseMs / 4)");
  });

  test.each([
    ["engine/lease-thread.ts", "MAIN_LOOP_DEAD_MS", 120_000, "goes on renewing, for 120 s"],
    ["engine/watcher.ts", "OVERLONG_MS", 300_000, "`overlong` is true from five minutes on"],
    ["store/session.ts", "IDLE_TIMEOUT_MS", 2_000, "The transactions here have one, of two seconds"],
    ["engine/loops.ts", "WATCH_MS", 60_000, "Once a minute every instance looks"],
  ])("says of %s what %s is", (file, name, value, sentence) => {
    expect(numberAt(file, name)).toBe(value);
    expect(page).toContain(sentence);
  });

  test("says by how much the numbers jump on a new timeline", () => {
    expect(read(`${CORE}/store/instances/timeline.ts`)).toContain("NUMBERS_PER_TIMELINE = 2 ** 20;");
    expect(page).toContain("raises the claim numbers by 2^20");
  });
});
