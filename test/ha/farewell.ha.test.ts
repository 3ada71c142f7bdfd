import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, expect, it } from "vitest";
import { openPool } from "../../packages/core/src/store/database.ts";

let server: Server;

afterEach(() => server.close());

it("survives a server that says goodbye in one packet with its greeting", async () => {
  const farewell = ["SFATAL", "VFATAL", "C57P01", "Mterminating connection due to administrator command", ""];
  const greeting = [
    message("R", Buffer.from([0, 0, 0, 0])),
    message("Z", Buffer.from("I")),
    message("E", Buffer.from(farewell.map((field) => `${field}\0`).join(""))),
  ];
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat(greeting)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `postgres://postgres:x@127.0.0.1:${port}/x`;
  const pool = openPool({ url, size: 1, queryTimeoutMs: 5_000, applicationName: "test" });

  const work = pool.transaction(async () => "done");

  await expect(work).rejects.toThrow("terminating connection");
  await pool.close();
});

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}
