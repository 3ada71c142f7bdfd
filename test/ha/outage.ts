import type { ToldError } from "./instance-messages.ts";

/**
 * Whether an error says that the database was not there, or not any more: nothing is known then of what was
 * asked. Everything else is a mistake of somebody's.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isOutage);
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  // A call of the library tells it in words of its own, and keeps what the driver said.
  return tellsOutage({ code, message: error.message }) || isOutage(error.cause);
}

/** What the driver said: a call of the library tells it in words of its own, and keeps it. */
export function whatDriverSaid(error: Error): { readonly code: string | null; readonly message: string } {
  const said = error.cause instanceof Error ? error.cause : error;
  const code = "code" in said && typeof said.code === "string" ? said.code : null;
  return { code, message: said.message };
}

/** The same of an error that was only told. */
export function tellsOutage(told: ToldError): boolean {
  return OUTAGE_CODE.test(told.code ?? "") || OUTAGE_MESSAGE.test(told.message);
}

// Shut down, crashed, starting up; the connection; and 25P03: the server ended a transaction of somebody frozen.
const OUTAGE_CODE = /^(?:57P0[123]|08\w{3}|25P03|ECONNREFUSED|ECONNRESET|EPIPE)$/;
const OUTAGE_MESSAGE = /^(?:Connection terminated|Client has encountered a connection error)/;

/** No answer in time, whichever side said so. */
export function tellsTooSlow({ code, message }: ToldError): boolean {
  return code === "57014" || message.startsWith("Query read timeout");
}
