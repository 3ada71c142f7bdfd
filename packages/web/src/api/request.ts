/** Requests to the API beside which this page is served. Every failure becomes one kind of error. */

import type { Problem } from "@signalbox/contract";

export class ApiError extends Error {
  override readonly name = "ApiError";
  /** Null: no answer came at all. */
  readonly problem: Problem | null;

  constructor(problem: Problem | null, message: string) {
    super(message);
    this.problem = problem;
  }
}

export type ChangeMethod = "POST" | "PUT" | "DELETE";

export async function readPath(path: string, signal?: AbortSignal): Promise<unknown> {
  return await ask(path, signal === undefined ? {} : { signal });
}

/** With a key it is done once, however often it is sent. */
export async function change(
  method: ChangeMethod,
  path: string,
  body: unknown,
  idempotencyKey?: string,
): Promise<unknown> {
  // The API reads no body that is said to be JSON and is empty.
  if (body === undefined) return await ask(path, { method });
  const headers = {
    "content-type": "application/json",
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
  return await ask(path, { method, headers, body: JSON.stringify(body) });
}

export function apiUrl(path: string): string {
  return new URL(`api/v1/${path}`, document.baseURI).href;
}

async function ask(path: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(apiUrl(path), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(null, "No answer");
  }
  if (response.status === 204) return null;
  const body: unknown = await response.json().catch(() => undefined);
  // Cut off in the middle, or the page of a proxy: what is known already is better.
  if (response.ok && body === undefined) throw new ApiError(null, "The answer could not be read");
  if (response.ok) return body;
  const problem = isProblem(body) ? body : problemOf(response);
  throw new ApiError(problem, problem.detail);
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "code" in body && "detail" in body;
}

/** What is not ours answered: a proxy, for one. */
function problemOf({ status, statusText }: Response): Problem {
  const title = statusText || String(status);
  return { type: "about:blank", title, status, code: "UNREADABLE_ANSWER", detail: title };
}
