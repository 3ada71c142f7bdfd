import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { otherDevs, type RegisteredDev, readDevs, registerDev } from "./registry.ts";

let dir: string;
let server: Server | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "signalbox-registry-"));
});

afterEach(async () => {
  server?.close();
  await rm(dir, { recursive: true, force: true });
});

test("a dev is found while it is registered, with its address once it has one", async () => {
  const registration = await registerDev(dir, dev({ serverId: "a" }));
  expect(await readDevs(dir)).toMatchObject([{ serverId: "a", url: null }]);

  await registration.announce("http://127.0.0.1:7410");
  expect(await readDevs(dir)).toMatchObject([{ serverId: "a", url: "http://127.0.0.1:7410" }]);

  await registration.remove();
  await registration.remove();
  expect(await readDevs(dir)).toEqual([]);
});

test("what a killed one left is not taken for another, and is cleared away", async () => {
  const own = await registerDev(dir, dev({ serverId: "own" }));
  await registerDev(dir, dev({ serverId: "killed", pid: 2 ** 22 + 1 }));

  expect(await otherDevs(dir, own.dev)).toEqual([]);
  expect(await readdir(join(dir, "dev"))).toEqual([`${process.pid}.json`]);
});

test("another program with its process id is not taken for it", async () => {
  const own = dev({ serverId: "own", pid: 1 });
  const reused = await registerDev(dir, dev({ serverId: "reused" }));
  await reused.announce(await serveHealth("somebody else"));

  expect(await otherDevs(dir, own)).toEqual([]);
});

test("one that answers, and one that still starts, are there", async () => {
  const own = dev({ serverId: "own", pid: 1 });
  const starting = dev({ serverId: "other" });
  const other = await registerDev(dir, starting);
  expect(await otherDevs(dir, own)).toEqual([starting]);

  await other.announce(await serveHealth("other"));
  expect(await otherDevs(dir, own)).toMatchObject([{ serverId: "other" }]);
});

test("a broken file is no dev", async () => {
  await registerDev(dir, dev({ serverId: "a" }));
  await writeFile(join(dir, "dev", "7.json"), "{");

  expect(await readDevs(dir)).toHaveLength(1);
});

function dev(facts: Partial<RegisteredDev>): RegisteredDev {
  return {
    pid: process.pid,
    serverId: "x",
    startedAt: "2026-11-16T12:00:00.000Z",
    url: null,
    demo: true,
    privateDatabase: true,
    ...facts,
  };
}

async function serveHealth(serverId: string): Promise<string> {
  const listening = createServer((_, response) => {
    const health = { status: "ok", product: "signalbox", version: "0.1.0", serverId };
    response.writeHead(200, { connection: "close" }).end(JSON.stringify(health));
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
}
