import { createServer } from "node:net";
import { afterAll, afterEach, beforeEach, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { type Listener, listen } from "./listen.ts";
import { notifyChannels } from "./notify.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

let listener: Listener;
let heard: string[];
let connections: number;
let losses: unknown[];
beforeEach(async () => {
  heard = [];
  connections = 0;
  losses = [];
  listener = listen({
    url: box.db.url,
    onWake: (channel) => heard.push(channel),
    onConnected: () => {
      connections += 1;
    },
    onLost: (error) => losses.push(error),
  });
  await waitUntil("it listens", () => connections === 1);
});
afterEach(async () => {
  await listener.stop();
  await box.clear();
});

const listenerCount = async (): Promise<number> =>
  await box.value(
    `SELECT count(*)::integer FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'signalbox listener'`,
  );

it("hears each channel by its name, and nothing else", async () => {
  await box.query("NOTIFY somebody_else");
  await notifyChannels(box.pool("sender"), ["signalbox_gate", "signalbox_cancel"]);

  await waitUntil("both are heard", () => heard.length >= 2);
  expect(heard.toSorted()).toEqual(["signalbox_cancel", "signalbox_gate"]);
});

it("comes back when its connection is ended, says so, and hears again", async () => {
  await box.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'signalbox listener'`,
  );

  await waitUntil("it listens again", () => connections === 2);
  expect(losses).toHaveLength(1);
  await notifyChannels(box.pool("sender"), ["signalbox_ready"]);
  await waitUntil("it hears", () => heard.includes("signalbox_ready"));
});

it("leaves no connection behind when it is stopped", async () => {
  expect(await listenerCount()).toBe(1);

  await listener.stop();

  await waitUntil("it is gone", async () => (await listenerCount()) === 0);
  expect(losses).toEqual([]);
});

it("tells a loss once, however often a new connection fails", async () => {
  let attempts = 0;
  const refusing = createServer((socket) => {
    attempts += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const address = refusing.address();
  const port = typeof address === "object" ? address?.port : 0;
  const errors: unknown[] = [];

  const deaf = listen({
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    onWake: () => {},
    onConnected: () => {},
    onLost: (error) => errors.push(error),
  });
  await waitUntil("it has tried twice more", () => attempts >= 3);

  expect(errors).toHaveLength(1);
  await deaf.stop();
  refusing.close();
});
