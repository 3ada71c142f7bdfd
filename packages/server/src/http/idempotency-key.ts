import type { IncomingHttpHeaders } from "node:http";

/** The header `Idempotency-Key`; what it may be is for the scheduler to say. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): { readonly idempotencyKey?: string } {
  const key = headers["idempotency-key"];
  return typeof key === "string" ? { idempotencyKey: key } : {};
}
