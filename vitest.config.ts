import { defineConfig } from "vitest/config";

/**
 * Tests read the sources of every package, never `dist`: the condition `source` says so to the resolver, and
 * inlining keeps Node from loading a workspace package by its own rules.
 */
const fromSources = {
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"], externalConditions: ["source"] } },
};
const inlined = { server: { deps: { inline: [/^@signalbox\//, /^signalbox$/] } } };

const postgres = {
  globalSetup: "test/setup/postgres.ts",
  // Ends what hangs; how long something takes is the business of benchmarks, and machines are busy at times.
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

const long = {
  ...postgres,
  testTimeout: 1_800_000,
  hookTimeout: 120_000,
};
/** One leaves a transaction open for ten minutes, the other goes step by step: neither is about moments, and each has its own PostgreSQL. */
const BESIDE = ["test/long/caller.long.test.ts", "test/long/model.long.test.ts"];

/** Each has a browser, instances and a database of its own, and waits for pages more than it computes. */
const browser = {
  ...inlined,
  ...postgres,
  globalSetup: [postgres.globalSetup, "test/setup/chromium.ts"],
  sequence: { groupOrder: 6 },
  maxWorkers: 2,
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

/** Those that keep both cores busy by themselves, or measure what others on the machine would change. */
const HA_ALONE = ["test/ha/mix.ha.test.ts", "test/bad-input/instances.ha.test.ts"];

export default defineConfig({
  test: {
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.test-d.ts"],
    },
    projects: [
      {
        ...fromSources,
        test: {
          ...inlined,
          name: "unit",
          sequence: { groupOrder: 0 },
          // Pure functions share nothing that a fresh process would have to protect.
          pool: "threads",
          isolate: false,
          include: ["packages/*/src/**/*.test.ts", "examples/*/**/*.test.ts", "test/unit/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/dist/**", "**/*.db.test.ts"],
          typecheck: {
            enabled: true,
            include: ["packages/*/src/**/*.test-d.ts"],
            tsconfig: "tsconfig.json",
            // `npm run typecheck` reports these, once and for every file.
            ignoreSourceErrors: true,
          },
        },
      },
      {
        ...fromSources,
        test: {
          ...inlined,
          ...postgres,
          name: "db",
          sequence: { groupOrder: 1 },
          // The tests wait for the database more than they compute.
          maxWorkers: 2,
          // Each file has a database of its own, and to load the same modules for each takes as long as many of them run.
          isolate: false,
          include: [
            "packages/*/src/**/*.db.test.ts",
            "examples/*/**/*.db.test.ts",
            "test/{db,bad-input}/**/*.db.test.ts",
          ],
        },
      },
      {
        ...fromSources,
        test: {
          ...inlined,
          ...postgres,
          name: "ha",
          sequence: { groupOrder: 2 },
          include: ["test/{ha,bad-input}/**/*.ha.test.ts"],
          exclude: HA_ALONE,
          // Each test runs several real processes, which wait for leases and servers more than they compute.
          maxWorkers: 2,
          testTimeout: 120_000,
        },
      },
      {
        ...fromSources,
        test: {
          ...inlined,
          ...postgres,
          name: "ha-alone",
          sequence: { groupOrder: 3 },
          include: HA_ALONE,
          fileParallelism: false,
          testTimeout: 120_000,
        },
      },
      {
        ...fromSources,
        test: { ...browser, name: "browser", include: ["test/browser/**/*.browser.test.ts"] },
      },
      {
        ...fromSources,
        test: {
          ...browser,
          name: "browser-long",
          include: ["test/browser/**/*.{browser,browser-long}.test.ts"],
          env: { SIGNALBOX_ALL_LOOKS: "1" },
        },
      },
      {
        ...fromSources,
        test: {
          ...inlined,
          ...long,
          name: "long",
          sequence: { groupOrder: 4 },
          include: ["test/{long,bad-input}/**/*.long.test.ts"],
          exclude: BESIDE,
          fileParallelism: false,
        },
      },
      {
        ...fromSources,
        test: {
          ...inlined,
          ...long,
          name: "long-beside",
          sequence: { groupOrder: 5 },
          include: BESIDE,
          maxWorkers: BESIDE.length,
        },
      },
    ],
  },
});
