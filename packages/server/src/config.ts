/** The one place that reads the environment. Everything else is told. */

import { UsageError } from "./usage-error.ts";

export interface Config {
  /** SIGNALBOX_DATABASE_URL, else DATABASE_URL. */
  readonly databaseUrl: string | null;
  /** DATABASE_DIRECT_URL: past a pooler, for LISTEN and migrations. */
  readonly directUrl: string | null;
  /** PG_BINDIR: the folder of PostgreSQL's programs. */
  readonly pgBinDir: string | null;
  /** SIGNALBOX_SERVER_URL: the server the commands talk to. */
  readonly serverUrl: string | null;
  /** SIGNALBOX_PORT. */
  readonly port: number | null;
  /** What FORCE_COLOR or NO_COLOR say; null: it depends on the terminal. */
  readonly color: boolean | null;
  /** CI: somebody reads the output later, nobody presses keys. */
  readonly ci: boolean;
  /** Whether the locale can show more than ASCII. */
  readonly unicode: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(env: Environment = process.env): Config {
  return {
    databaseUrl: given(env["SIGNALBOX_DATABASE_URL"]) ?? given(env["DATABASE_URL"]),
    directUrl: given(env["DATABASE_DIRECT_URL"]),
    pgBinDir: given(env["PG_BINDIR"]),
    serverUrl: given(env["SIGNALBOX_SERVER_URL"]),
    port: portOf(given(env["SIGNALBOX_PORT"])),
    color: colorOf(env),
    ci: given(env["CI"]) !== null && env["CI"] !== "false",
    unicode: isUnicode(given(env["LC_ALL"]) ?? given(env["LC_CTYPE"]) ?? given(env["LANG"])),
  };
}

/** `source` names where the text was given: SIGNALBOX_PORT, --port. */
export function parsePort(text: string, source: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`${source} is "${text}"; give a port from 1 to 65535`);
}

// Set to nothing is not set.
function given(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}

function portOf(text: string | null): number | null {
  return text === null ? null : parsePort(text, "SIGNALBOX_PORT");
}

function colorOf(env: Environment): boolean | null {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return given(env["NO_COLOR"]) === null ? null : false;
}

function isUnicode(locale: string | null): boolean {
  // Containers often name no locale at all, and their terminals are UTF-8.
  return locale === null || /utf-?8/i.test(locale) || process.platform === "win32";
}
