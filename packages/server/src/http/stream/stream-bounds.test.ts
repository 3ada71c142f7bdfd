/** A stream neither outlives its session nor waits for an answer by more than a bounded time. */

import type { Scheduler } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createApi } from "../create-api.ts";

const TOKEN = "correct-horse-battery-staple";
const SCHEDULER: Partial<Scheduler> = { overview: async () => await Promise.reject(new Error("not now")) };
const STREAM = "/api/v1/stream?topic=overview";
let app: FastifyInstance;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  app = createApi({
    scheduler: SCHEDULER as Scheduler,
    serverId: "server-1",
    logger: { error: () => {} },
    token: TOKEN,
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});

test("by cookie it ends from time to time, and asks to be opened again", async () => {
  const login = await app.inject({ method: "POST", url: "/api/v1/session", payload: { token: TOKEN } });
  const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
  const stream = app.inject({ url: STREAM, headers: { cookie } });
  await vi.advanceTimersByTimeAsync(300_000);

  expect((await stream).payload).toMatch(/event: renew\ndata: \{\}\n\n$/);
});

test("by token it goes on: whoever has the token could open it again", async () => {
  let ended = false;
  const stream = app.inject({ url: STREAM, headers: { authorization: `Bearer ${TOKEN}` } });
  void stream.then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(900_000);

  expect(ended).toBe(false);
  await app.close();
  expect((await stream).payload).not.toContain("event: renew");
});

test("what is not answered in time is a trouble, and is asked for again", async () => {
  await app.close();
  let asked = 0;
  const overview = async (): Promise<never> => {
    asked += 1;
    return await new Promise<never>(() => {});
  };
  app = createApi({
    scheduler: { overview } as Partial<Scheduler> as Scheduler,
    serverId: "server-1",
    logger: { error: () => {} },
    token: TOKEN,
  });
  const login = await app.inject({ method: "POST", url: "/api/v1/session", payload: { token: TOKEN } });
  const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
  const stream = app.inject({ url: STREAM, headers: { cookie } });
  await vi.advanceTimersByTimeAsync(300_000);

  expect((await stream).payload).toContain('"code":"TOO_SLOW"');
  expect(asked).toBeGreaterThan(5);
});
