import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, test } from "vitest";
import type { ApiScheduler } from "./api-scheduler.ts";
import { createApi } from "./create-api.ts";
import { listenOnLoopback } from "./listen.ts";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function open() {
  const app = createApi({ scheduler: {} as ApiScheduler, serverId: "server-1", logger: { error: () => {} } });
  const { port } = await listenOnLoopback(app, 29_410);
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  // The server knows of it when it has answered somebody who came later.
  await (await fetch(`http://127.0.0.1:${port}/livez`)).text();
  return { app, socket };
}

test("a server that closes does not wait for who is connected and has asked nothing", async () => {
  const { app, socket } = await open();
  const hungUp = once(socket, "close");

  await app.close();

  await hungUp;
});
