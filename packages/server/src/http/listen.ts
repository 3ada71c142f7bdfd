import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

export interface Listening {
  readonly url: string;
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";
const PORTS_TRIED = 50;

/** Listens on loopback, at the first port from `firstPort` on that is free, else at any that is. */
export async function listenOnLoopback(app: FastifyInstance, firstPort: number): Promise<Listening> {
  for (let port = firstPort; port < Math.min(firstPort + PORTS_TRIED, 65_536); port++) {
    if (await canListen(app, port)) return listeningAt(app);
  }
  await app.listen({ host: LOOPBACK, port: 0 });
  return listeningAt(app);
}

async function canListen(app: FastifyInstance, port: number): Promise<boolean> {
  try {
    await app.listen({ host: LOOPBACK, port });
    return true;
  } catch (error) {
    // EACCES: a port below 1024, which a plain user may not have.
    if (
      error instanceof Error &&
      "code" in error &&
      (error.code === "EADDRINUSE" || error.code === "EACCES")
    ) {
      return false;
    }
    throw error;
  }
}

function listeningAt(app: FastifyInstance): Listening {
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://${LOOPBACK}:${port}`, port };
}
