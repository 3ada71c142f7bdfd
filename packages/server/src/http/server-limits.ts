/** How much a client may send and how long it may take, and what it hears where Node itself refuses it. */

import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Problem } from "@signalbox/contract";
import type { FastifyHttpOptions, FastifyInstance } from "fastify";
import { judgeError, RequestError } from "./problem.ts";
import { securityHeaders } from "./security-headers.ts";

const BODY_LIMIT_BYTES = 1_048_576;
const LONGEST_ADDRESS = 8_192;
const HEADER_BYTES = 16_384;
/** A client that says its headers byte by byte keeps a connection no longer. */
const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 60_000;
/** Nothing is said on it in either direction; streams say something every 15 s. */
const SILENT_CONNECTION_MS = 120_000;
const LOOK_EVERY_MS = 2_000;

export const SERVER_LIMITS = {
  bodyLimit: BODY_LIMIT_BYTES,
  requestTimeout: REQUEST_WITHIN_MS,
  connectionTimeout: SILENT_CONNECTION_MS,
  http: {
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: HEADERS_WITHIN_MS,
    connectionsCheckingInterval: LOOK_EVERY_MS,
  },
  clientErrorHandler: answerBroken,
} as const satisfies FastifyHttpOptions<Server>;

export function refuseLongAddresses(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ originalUrl }) => {
    if (originalUrl.length <= LONGEST_ADDRESS) return;
    throw new RequestError("ADDRESS_TOO_LONG", `The address has more than ${LONGEST_ADDRESS} characters`);
  });
}

/** What is no HTTP never becomes a request: it is answered on the bare socket. */
function answerBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  if (socket.writable) socket.write(textOf(judgeError(requestErrorOf(error.code)).problem));
  socket.destroy(error);
}

function requestErrorOf(code: string | undefined): RequestError {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new RequestError("HEADERS_TOO_LARGE", `The headers have more than ${HEADER_BYTES} bytes`);
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new RequestError("REQUEST_TOO_SLOW", "The request did not come to its end in time");
  }
  return new RequestError("INVALID_REQUEST", "What came is not HTTP");
}

function textOf(problem: Problem): string {
  const body = JSON.stringify(problem);
  const headers = {
    "content-type": "application/problem+json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
    ...securityHeaders(false),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const first = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}`;
  return [first, ...lines, "", body].join("\r\n");
}
