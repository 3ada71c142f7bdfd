import { once } from "node:events";
import { createServer } from "node:net";
import { expect, inject, it } from "vitest";
import { checkServer } from "./check-server.ts";

const SECRET = "nobody-may-see-this";

function changed(change: (url: URL) => void): string {
  const url = new URL(inject("adminUrl"));
  change(url);
  return url.href;
}

it("is content with a server that can be written to", async () => {
  expect(await checkServer(inject("adminUrl"))).toEqual({
    kind: "ok",
    version: expect.stringMatching(/^\d+\.\d+$/),
  });
});

it("tells a wrong password without showing it", async () => {
  const check = await checkServer(changed((url) => (url.password = SECRET)));

  expect(check.kind).toBe("wrong_password");
  expect(JSON.stringify(check)).not.toContain(SECRET);
});

it("tells a missing database", async () => {
  expect(await checkServer(changed((url) => (url.pathname = "/not_there")))).toMatchObject({
    kind: "no_database",
    sentence: expect.stringContaining("not_there"),
  });
});

it("names host and port where nothing listens, and not the password", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));

  const check = await checkServer(`postgres://alice:${SECRET}@127.0.0.1:${port}/orders`);

  expect(check).toMatchObject({
    kind: "unreachable",
    sentence: expect.stringContaining(`127.0.0.1:${port}`),
  });
  expect(JSON.stringify(check)).not.toContain(SECRET);
});

it("takes no URL of another kind, and shows nothing of it", async () => {
  for (const url of [
    "",
    "orders",
    `mysql://alice:${SECRET}@db/orders`,
    `postgres://alice:${SECRET}@db:port/orders`,
  ]) {
    const check = await checkServer(url);

    expect(check.kind).toBe("invalid_url");
    expect(JSON.stringify(check)).not.toContain(SECRET);
  }
});
