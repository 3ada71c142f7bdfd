/** By what one request is found again: its answer and the server's log have the same. */

import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export const REQUEST_ID_HEADER = "x-request-id";

/** Nothing that could forge a line of a log or a header. */
const GOOD = /^[\w.:-]{1,128}$/;

/** A proxy's own where it gave a good one, so that both logs agree. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === "string" && GOOD.test(given) ? given : randomUUID();
}
