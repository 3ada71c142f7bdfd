import { createServer } from "node:net";

/** The first of `preferred` that is free on loopback, else any free one. A start that loses it to somebody asks again. */
export async function choosePort(preferred: readonly number[]): Promise<number> {
  for (const port of preferred) {
    if ((await tryListen(port)) !== null) return port;
  }
  const free = await tryListen(0);
  if (free === null) throw new Error("No free port on 127.0.0.1");
  return free;
}

async function tryListen(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : null;
      server.close(() => resolve(bound));
    });
  });
}
