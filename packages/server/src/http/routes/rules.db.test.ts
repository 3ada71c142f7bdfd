import { afterAll, afterEach, describe, expect, inject, test } from "vitest";
import { openApi, problemOf } from "../../../test/api-fixture.ts";

const box = await openApi(inject("adminUrl"));
const { client, scheduler } = box;
afterEach(() => expect(box.logged).toEqual([]));
afterAll(box.close);

const NOBODY = "019a8c3e-5d21-7abc-8def-000000000001";
const FREEZE = {
  kind: "freeze",
  from: "2026-01-01T00:00:00.000Z",
  until: "2126-01-01T00:00:00.000Z",
} as const;
const NIGHT = {
  kind: "maintenance",
  opens: "0 22 * * *",
  lastsMs: 3_600_000,
  timeZone: "Europe/Berlin",
} as const;
/** Whatever a name may be made of. */
const ODD_NAMES = [
  "a/b",
  "a?b#c",
  "100 %",
  "%2F",
  "grün 😀",
  "a.b",
  "...",
  "x".repeat(200),
  "ä".repeat(200),
  "+",
];

describe("queues, keys and rates", () => {
  test("are changed, and read among the rules in force", async () => {
    await client.setQueue("mail", { limit: 5 });
    await client.setQueue("mail", { weight: 3 });
    await client.setKeyLimit("customer:*", 2);
    await client.setRate("smtp", { amount: 100, perMs: 60_000 });

    const rules = await client.readRules();

    expect(rules.queues).toMatchObject([{ queue: "mail", limit: 5, weight: 3 }]);
    expect(rules.keyLimits).toMatchObject([{ concurrencyKey: "customer:*", limit: 2 }]);
    expect(rules.rates).toMatchObject([{ rate: "smtp", amount: 100, perMs: 60_000, free: 100 }]);
    expect(rules.cut).toEqual([]);
    expect((await client.readRules({ limit: 1 })).cut).toEqual([]);
  });

  test.each(ODD_NAMES)("a name is taken as it is: %s", async (name) => {
    await client.setKeyLimit(name, 7);
    await client.setQueue(name, { limit: 7 });
    await client.setRate(name, { amount: 7, perMs: 1_000 });

    const { keyLimits, queues, rates } = await client.readRules();

    expect(keyLimits).toContainEqual(expect.objectContaining({ concurrencyKey: name, limit: 7 }));
    expect(queues).toContainEqual(expect.objectContaining({ queue: name, limit: 7 }));
    expect(rates).toContainEqual(expect.objectContaining({ rate: name, amount: 7 }));
  });

  test.each([
    ["INVALID_RULE", async () => await client.setQueue("mail", {})],
    ["INVALID_RULE", async () => await client.setQueue("mail", { limit: -1 })],
    ["INVALID_RULE", async () => await client.setQueue("mail", { weight: 0.5 })],
    ["INVALID_RULE", async () => await client.setQueue("a\u0000b", { limit: 1 })],
    ["INVALID_RULE", async () => await client.setQueue(" ", { limit: 1 })],
    ["INVALID_RULE", async () => await client.setQueue("x".repeat(201), { limit: 1 })],
    ["INVALID_RULE", async () => await client.setKeyLimit("customer:7", 0)],
    ["INVALID_RULE", async () => await client.setRate("smtp", { amount: 1, perMs: 86_400_001 })],
  ])("%s: what cannot be is one sentence of the scheduler (%#)", async (code, ask) => {
    expect(await problemOf(ask())).toMatchObject({ status: 422, code });
  });

  test("a name that an address would take for another folder is not sent", async () => {
    for (const name of ["", ".", ".."])
      await expect(client.setQueue(name, { limit: 1 })).rejects.toThrow(TypeError);
  });
});

describe("pauses", () => {
  test("say whether something changed, and who asked for it", async () => {
    const asked = { by: "ada", reason: "the provider is down" };

    expect(await client.pause({ queue: "sms" }, asked)).toEqual({ changed: true });
    expect(await client.pause({ queue: "sms" })).toEqual({ changed: false });
    expect((await client.readRules()).pauses).toMatchObject([{ what: { queue: "sms" }, ...asked }]);
    expect(await client.resume({ queue: "sms" }, { by: "bob" })).toEqual({ changed: true });
    expect(await client.resume({ queue: "sms" })).toEqual({ changed: false });
  });

  test("are of a resource and of a run too", async () => {
    const { runId } = await client.createTasks({ tasks: [{ kind: "report" }], run: { title: "nightly" } });

    await client.pause({ resource: "a/b" });
    await client.pause({ runId: (runId ?? "").toUpperCase() });

    expect((await client.readRules()).pauses.map(({ what }) => what)).toEqual([
      { resource: "a/b" },
      { runId },
    ]);
    expect((await client.getRun(runId ?? "")).paused).toMatchObject({ by: null, reason: null });
    expect(await problemOf(client.pause({ runId: NOBODY }))).toMatchObject({
      status: 404,
      code: "RUN_NOT_FOUND",
    });
  });

  test.each([
    [{}, "what: expected one of queue, resource or runId"],
    [{ what: { queue: "a", resource: "b" } }, "what: expected one of queue, resource or runId"],
    [{ what: { queue: 7 } }, "what: expected one of queue, resource or runId"],
    [{ what: { queue: "a" }, why: "x" }, 'body: unrecognized key: "why"'],
    [{ what: { queue: "a" }, by: 7 }, "by: expected string, received number"],
  ])("of what is not told are refused: %o", async (body, detail) => {
    expect(await send("POST", "/api/v1/pauses", body)).toMatchObject({
      status: 400,
      json: { code: "INVALID_REQUEST", detail },
    });
  });
});

describe("windows", () => {
  test("are replaced as a whole, and read as they were given", async () => {
    await client.setWindows({ resource: "orders" }, [FREEZE, NIGHT]);

    const [rule] = (await client.readRules()).windows;

    expect(rule).toMatchObject({ what: { resource: "orders" }, windows: [FREEZE, NIGHT] });
    expect(rule?.now).toEqual({ kind: "closed", because: "freeze", opensAt: expect.any(String) });
    await client.setWindows({ resource: "orders" }, []);
    expect((await client.readRules()).windows).toEqual([]);
  });

  test.each([
    [{ ...FREEZE, until: "tomorrow" }, 400, "INVALID_REQUEST", "windows[0].until: expected an instant"],
    [{ ...FREEZE, opens: "* * * * *" }, 400, "INVALID_REQUEST", 'windows[0]: unrecognized key: "opens"'],
    [{ ...NIGHT, kind: "holiday" }, 400, "INVALID_REQUEST", "windows[0]: expected a window: kind"],
    [{ ...NIGHT, opens: "99 * * * *" }, 422, "INVALID_WINDOW", "windows[0].opens"],
    [{ ...NIGHT, timeZone: "Mars/Olympus" }, 422, "INVALID_WINDOW", "windows[0].timeZone"],
    [{ ...FREEZE, until: FREEZE.from }, 422, "INVALID_WINDOW", "windows[0].until"],
  ])("that cannot be are refused: %o", async (window, status, code, detail) => {
    const body = { what: { queue: "mail" }, windows: [window] };

    expect(await send("PUT", "/api/v1/windows", body)).toMatchObject({
      status,
      json: { code, detail: expect.stringContaining(detail) },
    });
  });
});

describe("stops and reservations", () => {
  test("a stop keeps a task from starting until it is taken off", async () => {
    const { taskId } = await client.createTask({ kind: "report" });

    await client.putStop(taskId, "APPROVAL");
    await client.putStop(taskId, "APPROVAL", "by two");
    await scheduler.promote();

    expect((await client.readRules()).stops).toMatchObject([{ taskId, code: "APPROVAL", detail: "by two" }]);
    expect((await client.getTaskRun(taskId)).blockedOn).toBe("STOPPED");
    expect(await client.takeOffStop(taskId, "APPROVAL")).toEqual({ changed: true });
    expect(await client.takeOffStop(taskId, "APPROVAL")).toEqual({ changed: false });
    for (const id of [NOBODY, "no id"]) {
      expect(await problemOf(client.putStop(id, "APPROVAL"))).toMatchObject({
        status: 404,
        code: "TASK_NOT_FOUND",
      });
      expect(await problemOf(client.takeOffStop(id, "A/B"))).toMatchObject({ code: "TASK_NOT_FOUND" });
    }
  });

  test("a resource that is kept for nobody is not released", async () => {
    expect(await client.releaseReservation("a/b", { by: "ada" })).toEqual({ changed: false });
    expect(await send("DELETE", "/api/v1/resources/orders/reservation")).toMatchObject({
      json: { changed: false },
    });
    expect(await send("DELETE", "/api/v1/resources/orders/reservation", { who: "ada" })).toMatchObject({
      status: 400,
      json: { code: "INVALID_REQUEST" },
    });
  });
});

test("a body that is missing, no object or of another type is refused, and nothing is changed", async () => {
  for (const [method, path] of [
    ["PUT", "/api/v1/queues/q"],
    ["PUT", "/api/v1/key-limits/k"],
    ["PUT", "/api/v1/rates/r"],
    ["PUT", "/api/v1/windows"],
    ["PUT", `/api/v1/runs/${NOBODY}/limit`],
    ["POST", "/api/v1/pauses/end"],
  ] as const)
    for (const body of [
      undefined,
      [],
      "text",
      null,
      { limit: "5" },
      JSON.parse('{"limit":1,"__proto__":{}}'),
    ])
      expect(await send(method, path, body), `${method} ${path} ${JSON.stringify(body)}`).toMatchObject({
        status: 400,
      });
});

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(new URL(path, box.url), {
    method,
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as unknown };
}
