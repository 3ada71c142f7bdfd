/** One request as it is typed: for what has no command yet. */

import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ProblemError, problemSchema, UnreachableError } from "@signalbox/contract";
import { UsageError } from "../../usage-error.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { type FoundServer, findAddress } from "../find-server.ts";
import type { Output } from "../output.ts";
import type { AskOptions } from "../shared-options.ts";

export interface ApiOptions extends AskOptions {
  readonly data?: string;
  readonly idempotencyKey?: string;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const DEFAULT_TIMEOUT_MS = 10_000;

export async function api(
  { method, path }: { readonly method: string; readonly path: string },
  options: ApiOptions,
  output: Output,
): Promise<ExitCode> {
  const verb = method.toUpperCase();
  if (!METHODS.includes(verb))
    throw new UsageError(`"${method}" is not a method; there are ${METHODS.join(", ")}`);
  const server = await findAddress(options);
  const url = addressOf(server.url, path);
  const body = options.data === undefined ? null : await bodyOf(options.data);
  const response = await send(server, url, { verb, body, options });
  const answer = await response.text();
  if (response.ok) {
    if (answer !== "") output.data(answer.trimEnd());
    return EXIT.ok;
  }
  throw refusal(server.url, response.status, answer);
}

/** Only on the server that was found: the token goes with it. */
function addressOf(base: string, path: string): URL {
  const url = path.startsWith("/") && URL.canParse(path, base) ? new URL(path, base) : null;
  if (url !== null && url.origin === new URL(base).origin) return url;
  throw new UsageError(`"${path}" is not a path of the API; give one such as /api/v1/overview`);
}

async function bodyOf(given: string): Promise<string> {
  const read = async (): Promise<string> => {
    if (given === "-") return await text(process.stdin);
    if (!given.startsWith("@")) return given;
    return await readFile(given.slice(1), "utf8").catch((cause: NodeJS.ErrnoException) => {
      throw new UsageError(`${given.slice(1)} cannot be read (${cause.code ?? "unknown"})`, { cause });
    });
  };
  const body = await read();
  try {
    JSON.parse(body);
    return body;
  } catch (cause) {
    throw new UsageError("--data is not JSON; give JSON, @file or - for stdin", { cause });
  }
}

async function send(
  { url: base, token }: FoundServer,
  url: URL,
  {
    verb,
    body,
    options,
  }: { readonly verb: string; readonly body: string | null; readonly options: ApiOptions },
): Promise<Response> {
  const headers: Record<string, string> = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === null ? {} : { "content-type": "application/json" }),
    ...(options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey }),
  };
  const signal = AbortSignal.timeout(options.timeout ?? DEFAULT_TIMEOUT_MS);
  try {
    return await fetch(url, { method: verb, headers, signal, ...(body === null ? {} : { body }) });
  } catch (cause) {
    throw new UnreachableError(base, "no answer", { cause });
  }
}

function refusal(base: string, status: number, answer: string): Error {
  try {
    return new ProblemError(problemSchema.parse(JSON.parse(answer)));
  } catch {
    return new UnreachableError(base, `what answers there is not Signalbox (HTTP ${status})`);
  }
}
