import { describe, expect, it } from "vitest";
import { resolveSettings, type SchedulerOptions } from "./settings.ts";

const databaseUrl = "postgres://localhost/app";

describe("the settings of a scheduler", () => {
  it("have a default for everything but the database", () => {
    const { onEvent, ...settings } = resolveSettings({ databaseUrl }, "host-1");

    expect(settings).toEqual({
      databaseUrl,
      directUrl: databaseUrl,
      tasks: [],
      name: "host-1",
      slots: 10,
      leaseMs: 60_000,
      beatMs: 5_000,
      graceMs: 3_000,
      obeyMs: 5_000,
      drainMs: 30_000,
      pollIntervalMs: 5_000,
      batchSize: 100,
      poolSize: 10,
      queryTimeoutMs: 10_000,
      searchTimeoutMs: 15_000,
      keepDoneMs: 604_800_000,
      keepFailedMs: 2_592_000_000,
      keepCanceledMs: 604_800_000,
    });
    expect(() => onEvent({ type: "gate.lock_missed" })).not.toThrow();
  });

  it("keep everything that is given, also a 0", () => {
    const given: Required<SchedulerOptions> = {
      databaseUrl,
      directUrl: "postgres://localhost:6432/app",
      tasks: [{ kind: "mail", execute: async () => null }],
      name: "app-1",
      slots: 1,
      leaseMs: 3_000,
      beatMs: 500,
      graceMs: 0,
      drainMs: 0,
      obeyMs: 0,
      pollIntervalMs: 100,
      batchSize: 500,
      poolSize: 2,
      queryTimeoutMs: 1_000,
      searchTimeoutMs: 2_000,
      keepDoneMs: 0,
      keepFailedMs: Infinity,
      keepCanceledMs: 86_400_000,
      onEvent: () => {},
    };

    expect(resolveSettings(given, "host-1")).toEqual(given);
  });

  it("take an explicit undefined for the default", () => {
    // What a caller without exactOptionalPropertyTypes may pass.
    const options: object = { databaseUrl, slots: undefined, leaseMs: undefined, name: undefined };

    expect(resolveSettings(options as SchedulerOptions, "host-1")).toMatchObject({
      slots: 10,
      leaseMs: 60_000,
      name: "host-1",
    });
  });

  it("refuse a lease that does not outlast four beats", () => {
    expect(() => resolveSettings({ databaseUrl, leaseMs: 2_000, beatMs: 500 }, "host-1")).toThrow(
      "leaseMs: 2000 does not exceed four beats (2000)",
    );
    expect(resolveSettings({ databaseUrl, leaseMs: 2_001, beatMs: 500 }, "host-1").leaseMs).toBe(2_001);
  });

  it.each(["slots", "batchSize", "poolSize"] as const)("refuse %s that are not a whole number", (option) => {
    for (const value of [0, -1, 1.5, 1_000_001, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => resolveSettings({ databaseUrl, [option]: value }, "host-1")).toThrow(
        `${option}: ${value} is not a whole number from 1 to 1000000`,
      );
    }
  });

  it.each(["keepDoneMs", "keepFailedMs", "keepCanceledMs"] as const)(
    "refuse a %s that is no length",
    (option) => {
      for (const value of [-1, Number.NaN, Number.MAX_VALUE]) {
        expect(() => resolveSettings({ databaseUrl, [option]: value }, "host-1")).toThrow(
          `${option}: ${value} is not between 0 and 1576800000000 milliseconds, nor Infinity`,
        );
      }
    },
  );
});
