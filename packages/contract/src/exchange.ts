/** One request and its answer. Every answer is read through its schema; every failure is one of two errors. */

import { z } from "zod";
import { ProblemError, UnreachableError } from "./client-error.ts";
import { problemSchema } from "./problem.ts";
import { eventsOf, type StreamEvent } from "./watch.ts";

interface Call {
  readonly path: string;
  /** Default: GET without a body, POST with one. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  /** At least so long it may take, however little the client's own patience is. */
  readonly atLeastMs?: number;
}

export type Send = <Schema extends z.ZodType>(schema: Schema, call: Call) => Promise<z.infer<Schema>>;

/** What is answered where there is nothing to say. */
export const NOTHING: z.ZodType<void> = z.void();

export interface SenderOptions {
  readonly base: string;
  readonly timeoutMs: number;
  readonly token: string | null;
}

/** How often a request that came too often is sent again, and how long it waits for that at most. */
const MOST_AGAIN = 5;
const LONGEST_WAIT_MS = 10_000;

export function createSender({ base, timeoutMs, token }: SenderOptions): Send {
  return async (schema, { path, atLeastMs = 0, ...call }) => {
    const request = requestOf(call, token);
    const ask = async (): Promise<Answered> =>
      await exchange(base, path, {
        ...request,
        signal: AbortSignal.timeout(Math.max(timeoutMs, atLeastMs)),
      });
    const { status, json } = await askPatiently(ask);
    if (status >= 400) throw refusal(base, status, json);
    const answer = schema.safeParse(json);
    if (answer.success) return answer.data;
    throw new UnreachableError(base, "what answers there is not this version of Signalbox", {
      cause: answer.error,
    });
  };
}

function requestOf(
  { method, body, idempotencyKey }: Call | Omit<Call, "path">,
  token: string | null,
): RequestInit {
  const headers: Record<string, string> = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
  if (body === undefined) return { method: method ?? "GET", headers };
  return {
    method: method ?? "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body, finite),
  };
}

/** JSON has no such number: null would arrive, and nobody would know. */
function finite(_: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new TypeError(`${value} is not a JSON number; it would be sent as null`);
}

interface Answered {
  readonly status: number;
  readonly json: unknown;
  readonly retryAfter: string | null;
}

/** What was refused for coming too often has done nothing: whatever it is, it may be sent again. */
async function askPatiently(ask: () => Promise<Answered>): Promise<Answered> {
  for (let again = 0; ; again += 1) {
    const answered = await ask();
    if (answered.status !== 429 || again === MOST_AGAIN) return answered;
    await wait(answered.retryAfter);
  }
}

/** Seconds, as the server says them; anything else is one. */
async function wait(retryAfter: string | null): Promise<void> {
  const seconds = /^\d{1,9}$/.test(retryAfter ?? "") ? Number(retryAfter) : 1;
  await new Promise((resolve) => setTimeout(resolve, Math.min(seconds * 1_000, LONGEST_WAIT_MS)));
}

async function exchange(base: string, path: string, request: RequestInit): Promise<Answered> {
  return await heard(base, async () => {
    const response = await fetch(new URL(`${base}${path}`), request);
    const { status } = response;
    const retryAfter = response.headers.get("retry-after");
    return { status, retryAfter, json: status === 204 ? undefined : await response.json() };
  });
}

/** What goes on for as long as both want; no patience ends it. */
export async function* openStream(
  { base, token }: Pick<SenderOptions, "base" | "token">,
  topics: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent> {
  const query = new URLSearchParams(topics.map((topic): [string, string] => ["topic", topic]));
  const request = { ...requestOf({}, token), ...(signal === undefined ? {} : { signal }) };
  const address = `${base}/api/v1/stream?${query.toString()}`;
  try {
    yield* eventsOf(base, await openBody(base, address, request));
  } catch (error) {
    // Whoever gives up knows it, also before the first answer.
    if (signal?.aborted === true) return;
    throw error instanceof UnreachableError || error instanceof ProblemError
      ? error
      : new UnreachableError(base, whyNoAnswer(error), { cause: error });
  }
}

async function openBody(
  base: string,
  address: string,
  request: RequestInit,
): Promise<ReadableStream<Uint8Array>> {
  const response = await heard(base, async () => await fetch(new URL(address), request));
  if (response.ok && response.body !== null) return response.body;
  const json = await heard(base, async (): Promise<unknown> => await response.json());
  throw refusal(base, response.status, json);
}

async function heard<Answer>(base: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    throw new UnreachableError(base, whyNoAnswer(cause), { cause });
  }
}

function refusal(base: string, status: number, json: unknown): Error {
  const problem = problemSchema.safeParse(json);
  if (problem.success) return new ProblemError(problem.data);
  return new UnreachableError(base, `what answers there is not Signalbox (HTTP ${status})`);
}

function whyNoAnswer(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no answer in time";
  if (error instanceof SyntaxError) return "what answers there is not Signalbox (no JSON)";
  // fetch says only "fetch failed"; what failed is its cause.
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code === "ECONNREFUSED" ? "nothing listens there" : code || error.message;
}

/** A path with these texts in the place of its `:names`, and a query string of what is given. */
export function addressOf(
  path: string,
  names: readonly string[],
  query: Readonly<Record<string, unknown>> = {},
): string {
  const rest = [...names];
  const filled = path.replaceAll(/:\w+/g, () => segmentOf(rest.shift() ?? ""));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return filled;
  const pairs = given.map(([name, value]) => [name, String(value)]);
  return `${filled}?${new URLSearchParams(Object.fromEntries(pairs)).toString()}`;
}

/** An address takes dots for the folder above, however they are written: it would lead elsewhere. */
function segmentOf(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new TypeError(`"${name}" cannot be part of an address`);
  return encodeURIComponent(name);
}
