/** The one place that reads the environment. Everything else is told. */

import { isIP } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
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
  /** SIGNALBOX_TOKEN. */
  readonly token: string | null;
  /** SIGNALBOX_TOKEN_FILE: a file that holds it. */
  readonly tokenFile: string | null;
  /** SIGNALBOX_HOST: the address that `serve` listens on. */
  readonly host: string | null;
  /** SIGNALBOX_PORT. */
  readonly port: number | null;
  /** SIGNALBOX_BASE_PATH: what stands before every address of the API; empty: nothing. */
  readonly basePath: string;
  /** SIGNALBOX_TRUSTED_PROXIES: addresses or networks whose X-Forwarded headers are believed. */
  readonly trustedProxies: string | null;
  /** SIGNALBOX_ENV_NAME: what people call this environment. */
  readonly environmentName: string | null;
  /** SIGNALBOX_INSTANCE_NAME: for display only. */
  readonly instanceName: string | null;
  /** SIGNALBOX_LOG_LEVEL. */
  readonly logLevel: LogLevel;
  /** SIGNALBOX_LOG_FORMAT; null: text where a person looks, else JSON. */
  readonly logFormat: LogFormat | null;
  /** What FORCE_COLOR or NO_COLOR say; null: it depends on the terminal. */
  readonly color: boolean | null;
  /** CI: somebody reads the output later, nobody presses keys. */
  readonly ci: boolean;
  /** Whether the locale can show more than ASCII. */
  readonly unicode: boolean;
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error"] as const;
const LOG_FORMATS = ["text", "json"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = (typeof LOG_FORMATS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(env: Environment = process.env): Config {
  return {
    databaseUrl: given(env["SIGNALBOX_DATABASE_URL"]) ?? given(env["DATABASE_URL"]),
    directUrl: given(env["DATABASE_DIRECT_URL"]),
    pgBinDir: given(env["PG_BINDIR"]),
    serverUrl: given(env["SIGNALBOX_SERVER_URL"]),
    token: given(env["SIGNALBOX_TOKEN"]),
    tokenFile: given(env["SIGNALBOX_TOKEN_FILE"]),
    host: given(env["SIGNALBOX_HOST"]),
    port: portOf(given(env["SIGNALBOX_PORT"])),
    basePath: parseBasePath(env["SIGNALBOX_BASE_PATH"] ?? "", "SIGNALBOX_BASE_PATH"),
    trustedProxies: networksOf(given(env["SIGNALBOX_TRUSTED_PROXIES"])),
    environmentName: given(env["SIGNALBOX_ENV_NAME"]),
    instanceName: given(env["SIGNALBOX_INSTANCE_NAME"]),
    logLevel: oneOf(LOG_LEVELS, env["SIGNALBOX_LOG_LEVEL"], "SIGNALBOX_LOG_LEVEL") ?? "info",
    logFormat: oneOf(LOG_FORMATS, env["SIGNALBOX_LOG_FORMAT"], "SIGNALBOX_LOG_FORMAT"),
    color: colorOf(env),
    ci: given(env["CI"]) !== null && env["CI"] !== "false",
    unicode: isUnicode(given(env["LC_ALL"]) ?? given(env["LC_CTYPE"]) ?? given(env["LANG"])),
  };
}

/** What only the commands that ask a server want to know. */
export interface ClientConfig {
  /** SIGNALBOX_CONTEXT. */
  readonly context: string | null;
  /** XDG_CONFIG_HOME, else ~/.config; APPDATA on Windows. */
  readonly configHome: string;
  /** SHELL, for which completion is meant. */
  readonly shell: string | null;
}

export function readClientConfig(env: Environment = process.env): ClientConfig {
  const ofWindows = process.platform === "win32" ? given(env["APPDATA"]) : null;
  return {
    context: given(env["SIGNALBOX_CONTEXT"]),
    configHome: given(env["XDG_CONFIG_HOME"]) ?? ofWindows ?? join(homedir(), ".config"),
    shell: given(env["SHELL"]),
  };
}

/** `source` names where the text was given: SIGNALBOX_PORT, --port. */
export function parsePort(text: string, source: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`${source} is "${text}"; give a port from 1 to 65535`);
}

/** `/signalbox` or `/tools/signalbox`; a slash at the end does not matter, and none at all is no path. */
export function parseBasePath(text: string, source: string): string {
  const path = text.replace(/\/+$/, "");
  if (path === "" || /^(?:\/[\w-][\w.~-]*)+$/.test(path)) return path;
  throw new UsageError(`${source} is "${text}"; give a path such as /signalbox`);
}

// Set to nothing is not set.
function given(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}

function portOf(text: string | null): number | null {
  return text === null ? null : parsePort(text, "SIGNALBOX_PORT");
}

function networksOf(text: string | null): string | null {
  const wrong = text?.split(",").find((each) => !isNetwork(each.trim()));
  if (wrong === undefined) return text;
  throw new UsageError(
    `SIGNALBOX_TRUSTED_PROXIES has "${wrong}"; give addresses or networks with commas between, such as 10.0.0.0/8`,
  );
}

function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const most = isIP(address) === 6 ? 128 : 32;
  return isIP(address) !== 0 && more.length === 0 && (bits === undefined || isBits(bits, most));
}

function isBits(text: string, most: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= most;
}

function oneOf<Word extends string>(
  words: readonly Word[],
  value: string | undefined,
  source: string,
): Word | null {
  const text = given(value);
  if (text === null) return null;
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new UsageError(`${source} is "${text}"; give one of ${words.join(", ")}`);
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
