/** Runs, queues, resources, windows, limits, stops and instances as they are typed, against a server that answers. */

import { createManualScheduler } from "@signalbox/core/testing";
import { afterAll, describe, expect, inject, test } from "vitest";
import { flaky, openCli } from "../../../test/cli-fixture.ts";

const box = await openCli(inject("adminUrl"));
afterAll(box.close);
const { scheduler, typed } = box;

const LATER = new Date("2126-11-16T12:00:00Z");

describe("runs", () => {
  test("are found by the beginning of their id, and one that two share is refused", async () => {
    const { runId } = await scheduler.enqueueMany([flaky.task(null, { runAt: LATER })], {
      run: { title: "nightly" },
    });
    const id = runId ?? "";

    expect((await typed("runs", "list")).said).toMatch(/running +\S+ +nightly +1 +0/);
    expect((await typed("runs", "show", id.slice(0, 28))).said).toContain("nightly  0/1");
    expect((await typed("runs", "show", `http://sb.example/runs/${id}`, "-o", "name")).said).toBe(id);
    await expect(typed("runs", "show", "ffffffff")).rejects.toMatchObject({
      problem: { code: "RUN_NOT_FOUND" },
    });

    await scheduler.enqueueMany([flaky.task(null, { runAt: LATER })], { run: { title: "second" } });
    await expect(typed("runs", "show", id.slice(0, 4))).rejects.toThrow(/More than one run begins with/);
  });

  test("are paused, limited, canceled and tried again", async () => {
    const { runId } = await scheduler.enqueueMany([flaky.task(null)], { run: { title: "all of it" } });
    const id = runId ?? "";

    await typed("runs", "pause", id, "--reason", "look first");
    expect((await typed("runs", "show", id)).said).toMatch(/paused by .*: look first/);
    expect((await typed("runs", "resume", id)).said).toContain("may start again");
    await typed("limit", "set", "run", id, "4");
    expect(JSON.parse((await typed("runs", "show", id, "--json=limit")).said)).toEqual({ limit: 4 });

    expect((await typed("runs", "cancel", id, "--dry-run")).said).toBe(
      'Would cancel the 1 open tasks of "all of it".',
    );
    await scheduler.runUntilIdle();
    expect((await typed("runs", "retry", id)).said).toBe("1 failed tasks are tried again.");
    expect((await typed("runs", "cancel", id, "--yes")).said).toContain("1 canceled");
  });
});

describe("queues", () => {
  test("have limits, weights and pauses", async () => {
    expect((await typed("queue", "set", "mail", "--limit", "3", "--weight", "2")).said).toBe(
      'Queue "mail" has the limit 3 and the weight 2 now.',
    );
    expect((await typed("queue", "pause", "mail")).said).toContain("what runs goes on");
    expect((await typed("queue", "pause", "mail")).said).toContain("was paused before");
    expect((await typed("queue", "list")).said).toMatch(/mail +0 +0 +0 +3 +2 +paused by/);
    expect((await typed("queue", "show", "nobody-uses-it")).said).toMatch(/limit +none/);
    await typed("queue", "resume", "mail");
    await expect(typed("queue", "set", "mail")).rejects.toThrow("Give --limit, --weight or both");
  });
});

describe("resources", () => {
  test("say who holds them and who is in line", async () => {
    const resources = [{ name: "orders", mode: "exclusive" as const }];
    await scheduler.enqueue(flaky.task(null, { title: "first", resources }));
    await scheduler.enqueue(flaky.task(null, { title: "second", resources }));
    await scheduler.promote();

    expect((await typed("resource", "list")).said).toMatch(/orders +alone +1 +first/);
    expect((await typed("resource", "show", "orders")).said).toMatch(/1\. +. pending +second/);
    expect((await typed("resource", "release", "orders")).said).toBe('"orders" was kept for nobody.');
    await scheduler.runUntilIdle();
  });

  test("that are kept since an instance was lost are released only by who means it", async () => {
    const lost = await createManualScheduler({ databaseUrl: box.databaseUrl, tasks: [flaky] });
    const resources = [{ name: "ledger", mode: "exclusive" as const }];
    await scheduler.enqueue(flaky.task(null, { resources, retry: { attempts: 2 } }));
    await lost.promote();
    await lost.claim();
    await lost.expireLease();
    await scheduler.rescue();
    const { taskId } = (await scheduler.readRules()).reservations[0] ?? { taskId: "" };

    await expect(typed("resource", "release", "ledger", "--no-input")).rejects.toThrow(
      `if it is meant, repeat it with --yes. ("ledger" is kept for task ${taskId}`,
    );
    expect((await typed("resource", "release", "ledger", "--yes")).said).toBe('"ledger" is free for others.');
    expect((await scheduler.readRules()).reservations).toEqual([]);
    await lost.close();
  });
});

describe("windows", () => {
  test("are set, added, listed and taken off", async () => {
    const on = ["--queue", "night"];
    await typed("window", "set", ...on, "--opens", "0 2 * * 1-5", "--lasts", "3h", "--zone", "Europe/Berlin");
    const freeze = ["--freeze", "--from", "2126-12-24T00:00:00Z", "--until", "2126-12-27T00:00:00Z"];
    await typed("window", "set", ...on, ...freeze, "--add");

    const [rule] = (await scheduler.readRules()).windows;
    expect(rule?.windows).toEqual([
      { kind: "maintenance", opens: "0 2 * * 1-5", lastsMs: 10_800_000, timeZone: "Europe/Berlin" },
      { kind: "freeze", from: new Date("2126-12-24T00:00:00Z"), until: new Date("2126-12-27T00:00:00Z") },
    ]);
    expect((await typed("window", "list")).said).toMatch(
      /queue "night" +closed until|queue "night" +open until/,
    );
    expect((await typed("window", "clear", ...on)).said).toContain("has no windows now (before: 2)");
  });

  test.each([
    [["--opens", "0 2 * * *"], /Give --opens/],
    [["--from", "2126-12-24T00:00:00Z", "--opens", "* * * * *"], /Give --opens/],
    [["--from", "2126-02-31T00:00:00Z", "--until", "2126-12-27T00:00:00Z"], /--from is "2126-02-31/],
  ])("%j is no window", async (words, problem) => {
    await expect(typed("window", "set", "--queue", "night", ...words)).rejects.toThrow(problem);
    await expect(typed("window", "set", ...words)).rejects.toThrow(
      "Give --queue <name> or --resource <name>",
    );
  });
});

describe("limits", () => {
  test("of keys and rates are set and listed", async () => {
    await typed("limit", "set", "key", "customer:*", "3");
    await typed("limit", "set", "rate", "mail", "100/1m");

    const { said } = await typed("limit", "list");
    expect(said).toMatch(/key +customer:\* +3 at once/);
    expect(said).toMatch(/rate +mail +100 in 1 min 0 s +100|rate +mail +100 in 1 min +100/);
  });

  test.each([
    [["moon", "x", "1"], /has no limit; there are key, rate, queue, run/],
    [["rate", "mail", "100"], /not a rate/],
    [["rate", "mail", "100/1y"], /not a rate/],
    [["key", "a", "many"], /not a limit/],
  ])("%j is refused", async (words, problem) => {
    await expect(typed("limit", "set", ...words)).rejects.toThrow(problem);
  });
});

describe("stops", () => {
  test("are put by the id of a task run and taken off again", async () => {
    const { taskRunId } = await scheduler.enqueue(flaky.task(null, { runAt: LATER }));

    await typed("stop", "put", taskRunId, "approval", "--detail", "ask Ann");
    expect((await typed("stop", "list")).said).toMatch(/approval +ask Ann/);
    expect((await typed("why", taskRunId)).said).toContain("it is stopped by approval: ask Ann");
    expect((await typed("stop", "take-off", taskRunId, "approval")).said).toContain("approval is off");
    expect((await typed("stop", "take-off", taskRunId, "approval")).said).toContain("had no stop approval");
  });
});

describe("lists", () => {
  test("go on over pages, and since an instant", async () => {
    await scheduler.enqueueMany(
      Array.from({ length: 620 }, () => flaky.task(null, { queue: "many", runAt: LATER })),
    );
    const all = ["task", "list", "--queue", "many", "-o", "name"];

    expect((await typed(...all, "--limit", "610")).said.split("\n")).toHaveLength(610);
    expect((await typed(...all, "--limit", "1000", "--since", "1h")).said.split("\n")).toHaveLength(620);
    expect((await typed(...all, "--since", "2126-01-01T00:00:00Z")).said).toBe("");
    expect((await typed("task", "list", "--queue", "many", "--limit", "5")).noted).toContain(
      "There are more",
    );
  });

  test("a status that is none is refused by name", async () => {
    await expect(typed("task", "list", "--status", "sleeping")).rejects.toThrow('"sleeping" is not a status');
    await expect(typed("runs", "list", "--status", "pending")).rejects.toThrow("not a status of runs");
  });
});

describe("logs", () => {
  test("are searched on the server, and as JSON are entries", async () => {
    const { taskRunId } = await scheduler.enqueue(flaky.task(null));
    await scheduler.runUntilIdle();

    expect((await typed("logs", taskRunId, "--search", "ATTEMPT")).said).toMatch(/^\d+: attempt 1$/);
    expect(JSON.parse((await typed("logs", taskRunId, "--json")).said)[0]).toMatchObject({ stream: "task" });
    expect((await typed("logs", taskRunId, "--stream", "stderr")).said).toBe("");
    await expect(typed("logs", taskRunId, "--search", "x", "--follow")).rejects.toThrow("cannot --follow");
  });
});

describe("bad input", () => {
  test.each([
    [["why", ""], /id is empty/],
    [["why", "0"], /too short/],
    [["queue", "set", "..", "--limit", "1"], /cannot be a name here/],
    [["resource", "show", ""], /It is empty/],
    [["enqueue", "flaky", "--run-at", "2026-02-31T00:00:00Z"], /--run-at is/],
    [["status", "--tz", "Mars/Base"], /Europe\/Berlin/],
    [["status", "--dry-run"], /unknown option/],
    [["task", "list", "--limit", "0"], /whole number/],
  ])("%j is refused with a sentence", async (words, problem) => {
    await expect(typed(...words)).rejects.toThrow(problem);
  });
});

describe("other", () => {
  test("open prints the page of a task, or of a run", async () => {
    const { taskRunId } = await scheduler.enqueue(flaky.task(null, { runAt: LATER }));
    const { runId } = await scheduler.enqueueMany([flaky.task(null, { runAt: LATER })], {
      run: { title: "r" },
    });

    expect((await typed("open", taskRunId)).said).toBe(`${box.server}/task-runs/${taskRunId}`);
    expect((await typed("open", runId ?? "")).said).toBe(`${box.server}/runs/${runId}`);
    await expect(typed("open", "00000000-0000-7000-8000-000000000000")).rejects.toMatchObject({
      problem: { code: "TASK_NOT_FOUND" },
    });
  });

  test("api asks what it is told, and nobody else", async () => {
    expect(JSON.parse((await typed("api", "get", "/api/v1/overview")).said)).toHaveProperty("waiting");
    await expect(typed("api", "GET", "//example.com/x")).rejects.toThrow("not a path of the API");
    await expect(typed("api", "GET", "https://example.com/x")).rejects.toThrow("not a path of the API");
    await expect(typed("api", "BREW", "/x")).rejects.toThrow("not a method");
    await expect(typed("api", "POST", "/api/v1/task-runs", "--data", "{kind")).rejects.toThrow(
      "--data is not JSON",
    );
  });

  test("an instance is asked to drain, and called back", async () => {
    const instances = JSON.parse((await typed("cluster", "instances", "--json=name,instanceId")).said);
    const [{ instanceId }] = instances;

    expect((await typed("cluster", "drain", instanceId, "--reason", "new disk")).said).toContain(
      "claims nothing more; what it runs goes on",
    );
    expect((await typed("cluster", "show", instanceId)).said).toMatch(/asked to drain .*: new disk/);
    expect((await typed("cluster", "drain", instanceId)).said).toContain("was asked to drain before");
    expect((await typed("cluster", "drain", instanceId, "--undo")).said).toContain(
      "is not asked to drain any more",
    );
  });

  test("cluster status says who works, and an instance that is not there is refused", async () => {
    expect((await typed("cluster", "status")).said).toMatch(/^1 live, 0 of \d+ slots used\nINSTANCE/);
    await expect(typed("cluster", "show", "nobody")).rejects.toMatchObject({
      problem: { code: "INSTANCE_NOT_FOUND" },
    });
  });
});
