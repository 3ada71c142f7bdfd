/** Holds docs/reference/telemetry.md against what an instance tells and what the server measures. */
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../packages/server/src/telemetry/metrics.ts";
import { codeIn, read, tableUnder } from "./markdown.ts";
import { namesIn, sorted } from "./page-rules.ts";

const HEALTH = { ready: true, problems: [], slots: 1, executing: 0, stuck: 0 } as const;

describe("docs/reference/telemetry.md", () => {
  const page = read("docs/reference/telemetry.md");

  test("has every event of the scheduler", () => {
    const events = namesIn(
      "packages/core/src/engine/telemetry.ts",
      /type SchedulerEvent =(.*?)\nexport /s,
      /type: "([a-z_.]+)"/g,
    );
    const rows = tableUnder(page, "Events").map(([event = ""]) => event);

    expect(events.length).toBeGreaterThan(20);
    expect(sorted(rows)).toEqual(sorted(events));
  });

  test("has every metric with its type and its labels", async () => {
    const metrics = createMetrics();
    metrics.watch({ health: () => HEALTH, overview: () => Promise.reject(new Error("not asked here")) });
    const types = [...(await metrics.render()).matchAll(/^# TYPE (signalbox_\S+) (\w+)$/gm)];
    const sources = ["metrics", "gauges"]
      .map((file) => read(`packages/server/src/telemetry/${file}.ts`))
      .join();
    const rows = tableUnder(page, "Metrics").map(([name, type]) => `${name} ${type}`);
    const labels = tableUnder(page, "Metrics").flatMap(([, , names = ""]) => codeIn(names));

    expect(sorted(rows)).toEqual(sorted(types.map(([, name, type]) => `${name} ${type}`)));
    expect(labels.filter((label) => !sources.includes(`"${label}"`))).toEqual([]);
  });

  test("has every problem of an instance", () => {
    const problems = namesIn(
      "packages/core/src/engine/health.ts",
      /type HealthProblem =(.*?);/s,
      /"([A-Z_]+)"/g,
    );

    expect(tableUnder(page, "Problems of an instance").map(([problem]) => problem)).toEqual(problems);
  });
});
