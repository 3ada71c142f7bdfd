/** A small proxy: each connection goes to the first of its servers that takes it. */

import { connect, createServer, type Socket } from "node:net";

export interface FrontDoor {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function openFrontDoor(ports: readonly number[]): Promise<FrontDoor> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.once("close", () => open.delete(client));
    client.on("error", () => {});
    lead(client, ports);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function lead(client: Socket, [first, ...rest]: readonly number[]): void {
  if (first === undefined) {
    client.destroy();
    return;
  }
  const server = connect(first, "127.0.0.1");
  let connected = false;
  server.once("connect", () => {
    connected = true;
    client.pipe(server).pipe(client);
    client.once("close", () => server.destroy());
  });
  server.on("error", () => {
    if (connected) client.destroy();
    else lead(client, rest);
  });
  // A server that was killed takes its connections with it.
  server.once("close", () => {
    if (connected) client.destroy();
  });
}
