/** Everything that can keep the embedded PostgreSQL from running, each with a stable code and one sentence. */
import { isNotPermitted } from "./file-error.ts";
import type { BinariesSource } from "./find-binaries.ts";

interface LaunchErrorDetails {
  NO_BINARIES: { readonly tried: readonly string[] };
  NO_PASSWD_ENTRY: { readonly uid: number };
  NO_SERVER_USER: Record<string, never>;
  CANNOT_SWITCH_USER: { readonly user: string };
  NOT_PERMITTED: { readonly path: string };
  WRONG_MAJOR_VERSION: {
    readonly dataDir: string;
    readonly dataMajor: number;
    readonly binariesMajor: number;
    readonly source: BinariesSource;
  };
  DATA_INCOMPLETE: { readonly missing: string };
  PASSWORD_REFUSED: { readonly dataDir: string };
  INIT_FAILED: { readonly dataDir: string; readonly lines: readonly string[] };
  START_FAILED: { readonly dataDir: string; readonly logFile: string; readonly lines: readonly string[] };
  STOP_FAILED: { readonly dataDir: string; readonly pid: number };
}

export type LaunchErrorCode = keyof LaunchErrorDetails;

const OWN_SERVER = "set DATABASE_URL to a PostgreSQL of your own";

const MESSAGES: { [Code in LaunchErrorCode]: (details: LaunchErrorDetails[Code]) => string } = {
  NO_BINARIES: ({ tried }) =>
    `No PostgreSQL binaries that can be used here (${tried.join("; ")}). ` +
    "Set PG_BINDIR to the bin folder of an installed PostgreSQL, or DATABASE_URL to a running one",
  NO_PASSWD_ENTRY: ({ uid }) =>
    `User id ${uid} has no entry in /etc/passwd, and PostgreSQL's initdb needs one. Add it, run as another user, or ${OWN_SERVER}`,
  NO_SERVER_USER: () =>
    `PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as. Run as a plain user, or ${OWN_SERVER}`,
  CANNOT_SWITCH_USER: ({ user }) =>
    `PostgreSQL does not run as root, and this process may not run it as ${user}. Run as a plain user, or ${OWN_SERVER}`,
  NOT_PERMITTED: ({ path }) =>
    `No permission for ${path}: it belongs to another user or is read-only. Run as its owner, use another folder, or ${OWN_SERVER}`,
  WRONG_MAJOR_VERSION: ({ dataDir, dataMajor, binariesMajor, source }) =>
    `The data in ${dataDir} is of PostgreSQL ${dataMajor}, the binaries (${source}) are ${binariesMajor}. ` +
    `Throw the data away with signalbox dev --reset, or set PG_BINDIR to the bin folder of a PostgreSQL ${dataMajor}`,
  DATA_INCOMPLETE: ({ missing }) =>
    `The data of the private PostgreSQL is incomplete (${missing} is missing). Throw it away with signalbox dev --reset`,
  PASSWORD_REFUSED: ({ dataDir }) =>
    `The server on ${dataDir} refuses the password stored beside its data. Throw the data away with signalbox dev --reset`,
  INIT_FAILED: ({ dataDir, lines }) => withLines(`PostgreSQL could not create its data in ${dataDir}`, lines),
  START_FAILED: ({ dataDir, logFile, lines }) =>
    withLines(`PostgreSQL did not start on ${dataDir}, the whole log is in ${logFile}`, lines),
  STOP_FAILED: ({ dataDir, pid }) =>
    `The server on ${dataDir} (process ${pid}) does not stop. End it, then try again`,
};

export class PostgresLaunchError extends Error {
  override readonly name = "PostgresLaunchError";
  readonly code: LaunchErrorCode;

  constructor(code: LaunchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function launchError<Code extends LaunchErrorCode>(
  code: Code,
  details: LaunchErrorDetails[Code],
  options?: ErrorOptions,
): PostgresLaunchError {
  return new PostgresLaunchError(code, MESSAGES[code](details), options);
}

/** Files we may not touch are the user's to set right; every other error is passed on as it is. */
export function explainNotPermitted(error: unknown, fallbackPath: string): unknown {
  if (!isNotPermitted(error)) return error;
  const path = error instanceof Error && "path" in error ? String(error.path) : fallbackPath;
  return launchError("NOT_PERMITTED", { path }, { cause: error });
}

function withLines(sentence: string, lines: readonly string[]): string {
  return lines.length === 0 ? sentence : `${sentence}:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
