/**
 * Keeps web pages out. The API has no password on loopback, so a page that the user's browser shows must
 * not be able to talk to it: neither by a name of its own that resolves to 127.0.0.1, nor by a form.
 */

import type { FastifyInstance } from "fastify";
import { RequestError } from "./problem.ts";

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

interface RequestOrigin {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

export function onlyLoopback(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ method, headers }) => {
    refuseForeign({ method, host: headers.host, origin: headers.origin });
  });
}

function refuseForeign({ method, host, origin }: RequestOrigin): void {
  if (host === undefined || !LOOPBACK_NAMES.has(nameOf(host))) {
    throw new RequestError("FOREIGN_HOST", "This API answers only to 127.0.0.1 and localhost");
  }
  if (READS.has(method) || origin === undefined || origin === `http://${host}`) return;
  throw new RequestError("FOREIGN_ORIGIN", `Pages of ${origin} may not change anything here`);
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}
