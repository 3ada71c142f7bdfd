import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { finish, newChild, readOutput } from "./warden-child.ts";

/** One that has said this and is closed already. */
async function closedAfter(text: string, readBy: (socket: Socket, first: Buffer) => void): Promise<void> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  connect(port, "127.0.0.1").end(text);
  const [socket] = (await once(server, "connection")) as [Socket];
  const [first] = (await once(socket, "data")) as [Buffer];
  const closed = once(socket, "close");
  readBy(socket, first);
  await closed;
  server.close();
}

test("what a process printed is told before its end, also where both were there before it was known to have started", async () => {
  const told: string[] = [];
  const child = newChild(
    {
      argv: ["true"],
      cwd: "/",
      env: {},
      graceMs: 0,
      onOutput: (stream, bytes) => void told.push(`${stream}: ${Buffer.from(bytes).toString()}`),
    },
    () => {},
  );
  await closedAfter("a line", (socket, first) => readOutput(socket, child, "stdout", first));
  await closedAfter("a complaint", (socket, first) => readOutput(socket, child, "stderr", first));

  // As one piece of what the warden says brings them.
  child.started.resolve({ pid: 1, startTime: null, ended: child.ended.promise, stop: () => {} });
  finish(new Map([["id", child]]), "id", { exitCode: 0, signal: null, because: null, told: false });
  await child.ended.promise;

  expect(told).toEqual(["stdout: a line", "stderr: a complaint"]);
});
