/** What the driver throws when the database is not there, or not for us, in words for whoever called. */

import { SchedulerError } from "../domain/errors.ts";

/** What happened, and what to do about it. */
type Told = readonly [what: string, remedy: string];

const CUT: Told = ["the connection was cut", "call again"];
const NO_WAY: Told = ["there is no way to its host", "look at the network, or correct databaseUrl"];
const TOO_SLOW: Told = ["it took longer than queryTimeoutMs", "call again, or raise it"];
const NONE_FREE: Told = ["no connection was free within queryTimeoutMs", "call again, or raise poolSize"];
const SLOW_TO_CONNECT: Told = [
  "connecting took too long",
  "look at the network and at the server, and call again",
];

const ABSENT: Readonly<Record<string, Told>> = {
  ECONNREFUSED: ["nothing listens there", "start it, or correct databaseUrl"],
  ENOTFOUND: ["there is no such host", "correct databaseUrl"],
  EAI_AGAIN: ["the name of its host could not be looked up", "call again, or correct databaseUrl"],
  ENOENT: ["there is no such socket", "start it, or correct databaseUrl"],
  ETIMEDOUT: NO_WAY,
  EHOSTUNREACH: NO_WAY,
  ENETUNREACH: NO_WAY,
  ECONNRESET: CUT,
  EPIPE: CUT,
  "25P03": ["it ended a transaction that stood still, as of a frozen process", "call again"],
  "53300": ["it has no connection left", "close some, or raise its max_connections"],
  "57014": TOO_SLOW,
  "57P01": CUT,
  "57P02": CUT,
  "57P03": ["it is starting or shutting down", "call again in a moment"],
};

/** Of these the driver has only a message. */
const ABSENT_BY_MESSAGE: readonly (readonly [RegExp, Told])[] = [
  // Before what is cut: the pool cuts a connection that took too long, and says so in these words.
  [/^(?:timeout expired|.* due to connection timeout)/, SLOW_TO_CONNECT],
  [/^timeout exceeded when trying to connect/, NONE_FREE],
  [/^(?:Connection terminated|Client has encountered a connection error)/, CUT],
  [/^Query read timeout/, TOO_SLOW],
];

const REFUSED: readonly (readonly [RegExp, remedy: string])[] = [
  [/^28/, "correct databaseUrl, or let the user in"],
  [/^3D000$/, "create it, or correct databaseUrl"],
  [/^42501$/, "grant it to the user of databaseUrl"],
  [/^25006$/, "lead databaseUrl to the primary"],
  [/^53/, "make room on the server"],
  [/CERT|SELF_SIGNED|LEAF_SIGNATURE/, "trust its certificate, or set sslmode in databaseUrl"],
];

const REFUSED_BY_MESSAGE: readonly (readonly [RegExp, remedy: string])[] = [
  [/client password must be/, "put the password into databaseUrl"],
  [/does not support SSL/, "set sslmode=disable in databaseUrl"],
];

/**
 * Null: it is neither, and passed on as it is. `mayBeDone`: the COMMIT was sent, so that an answer which did not come
 * says nothing about what was written.
 */
export function tellDriverError(
  error: unknown,
  place: string,
  { mayBeDone }: { readonly mayBeDone: boolean },
): SchedulerError | null {
  if (!(error instanceof Error) || error instanceof SchedulerError) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const absent = absenceOf(code, error.message);
  const options = { cause: error };
  if (absent !== null) {
    const [what, remedy] = absent;
    return mayBeDone
      ? new SchedulerError("ANSWER_LOST", { place, problem: what }, options)
      : new SchedulerError("DATABASE_UNREACHABLE", { place, problem: `${what}; ${remedy}` }, options);
  }
  const remedy = remedyFor(code, error.message);
  if (remedy === null) return null;
  return new SchedulerError("DATABASE_REFUSED", { place, problem: `${error.message}; ${remedy}` }, options);
}

function absenceOf(code: string, message: string): Told | null {
  const told = ABSENT[code] ?? (/^08\w{3}$/.test(code) ? CUT : undefined);
  return told ?? ABSENT_BY_MESSAGE.find(([sign]) => sign.test(message))?.[1] ?? null;
}

function remedyFor(code: string, message: string): string | null {
  const byCode = REFUSED.find(([sign]) => sign.test(code));
  return (byCode ?? REFUSED_BY_MESSAGE.find(([sign]) => sign.test(message)))?.[1] ?? null;
}

const NOT_AS_KNOWN = /^(?:3F000|42P01|42703|42883)$/;

/** A schema, table, column or function that is not there: the schema is not as this version knows it. */
export function missesSchema(error: unknown): boolean {
  return error instanceof Error && "code" in error && NOT_AS_KNOWN.test(String(error.code));
}
