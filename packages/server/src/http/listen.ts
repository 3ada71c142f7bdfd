import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { UsageError } from "../usage-error.ts";

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

/** Listens there and nowhere else; one sentence where that cannot be. */
export async function listenAt(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const problem = LISTEN_PROBLEMS[codeOf(error)];
    if (problem === undefined) throw error;
    throw new UsageError(`Cannot listen at ${placeOf(host, port)}: ${problem}`);
  }
  return { url: `http://${placeOf(host, port)}`, port };
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else does already. Stop it, or give another --port",
  EACCES: "ports below 1024 are for root. Give another --port",
  EADDRNOTAVAIL: "this machine does not have that address. Give another --host",
  ENOTFOUND: "that name is not known. Give another --host",
  EAI_AGAIN: "that name could not be looked up. Give an address as --host",
};

function placeOf(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

async function canListen(app: FastifyInstance, port: number): Promise<boolean> {
  try {
    await app.listen({ host: LOOPBACK, port });
    return true;
  } catch (error) {
    // EACCES: a port below 1024, which a plain user may not have.
    if (["EADDRINUSE", "EACCES"].includes(codeOf(error))) return false;
    throw error;
  }
}

function listeningAt(app: FastifyInstance): Listening {
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://${LOOPBACK}:${port}`, port };
}
