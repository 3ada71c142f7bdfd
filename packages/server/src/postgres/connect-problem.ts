/** What a failed connection to DATABASE_URL means for the person who set it. Pure; never shows a password. */

export interface ConnectTarget {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

export type ConnectProblemKind =
  | "invalid_url"
  | "unreachable"
  | "wrong_password"
  | "not_admitted"
  | "no_database"
  | "not_ready"
  | "read_only"
  | "too_old"
  | "refused";

export interface ConnectProblem {
  readonly kind: ConnectProblemKind;
  /** One sentence and what to do. */
  readonly sentence: string;
}

const WAY_OUT = "or leave it out: npx signalbox dev brings its own";

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the host's name could not be looked up",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "no way to the host",
  ENETUNREACH: "no way to the host",
  ENOENT: "no such socket",
  EACCES: "no permission for the socket",
};

// What the client itself reports has no code.
const CODELESS: readonly (readonly [RegExp, string])[] = [
  [/timeout/i, "no answer"],
  [/connection terminated/i, "the connection was cut"],
];

const REFUSED: Readonly<Record<string, (target: ConnectTarget) => ConnectProblem>> = {
  "28P01": ({ user }) => ({
    kind: "wrong_password",
    sentence: `Wrong password for user ${user} in DATABASE_URL. Correct it, ${WAY_OUT}`,
  }),
  "28000": (target) => ({
    kind: "not_admitted",
    sentence: `PostgreSQL at ${placeOf(target)} does not admit user ${target.user} (DATABASE_URL). Correct the user, or pg_hba.conf of the server, ${WAY_OUT}`,
  }),
  "3D000": (target) => ({
    kind: "no_database",
    sentence: `PostgreSQL at ${placeOf(target)} has no database ${target.database} (DATABASE_URL). Create it, name another, ${WAY_OUT}`,
  }),
  "57P03": (target) => ({
    kind: "not_ready",
    sentence: `PostgreSQL at ${placeOf(target)} (DATABASE_URL) is starting or shutting down. Try again in a moment`,
  }),
  "53300": (target) => ({
    kind: "not_ready",
    sentence: `PostgreSQL at ${placeOf(target)} (DATABASE_URL) has no connection left. Close some, or raise its max_connections`,
  }),
};

export const INVALID_URL: ConnectProblem = {
  kind: "invalid_url",
  sentence: `DATABASE_URL is not a URL of the form postgres://user:password@host:5432/database. Correct it, ${WAY_OUT}`,
};

export function explainConnectError(error: unknown, target: ConnectTarget): ConnectProblem {
  const { code, message } = readError(error);
  const refused = REFUSED[code];
  if (refused !== undefined) return refused(target);
  const unreachable = UNREACHABLE[code] ?? CODELESS.find(([sign]) => sign.test(message))?.[1];
  if (unreachable !== undefined) {
    return {
      kind: "unreachable",
      sentence: `No PostgreSQL at ${placeOf(target)} (DATABASE_URL): ${unreachable}. Start it, give another URL, ${WAY_OUT}`,
    };
  }
  return {
    kind: "refused",
    sentence: `PostgreSQL at ${placeOf(target)} (DATABASE_URL) refused: ${message}`,
  };
}

export function tooOld(major: number): ConnectProblem {
  return {
    kind: "too_old",
    sentence: `PostgreSQL ${major} at DATABASE_URL, 14 or newer needed. Give another URL, ${WAY_OUT}`,
  };
}

export function readOnly(target: ConnectTarget): ConnectProblem {
  return {
    kind: "read_only",
    sentence: `PostgreSQL at ${placeOf(target)} (DATABASE_URL) is a standby and takes no writes. Give the URL of the primary, ${WAY_OUT}`,
  };
}

function placeOf({ host, port }: ConnectTarget): string {
  if (host.startsWith("/")) return `socket ${host}/.s.PGSQL.${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function readError(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: "", message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { code, message: error.message };
}
