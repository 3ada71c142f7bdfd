/**
 * What a user keeps between commands: named servers (contexts) and how answers are to look.
 *
 * One JSON file that only its owner may read. It names files with tokens, and never has a token in it.
 */

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readClientConfig } from "../config.ts";
import { UsageError } from "../usage-error.ts";

export interface ServerContext {
  readonly server: string;
  readonly tokenFile?: string;
}

export interface Defaults {
  readonly output?: string;
  readonly color?: string;
  readonly tz?: string;
}

export interface UserConfig {
  /** Which context is used where none is named. */
  readonly context?: string;
  readonly contexts: Readonly<Record<string, ServerContext>>;
  readonly defaults: Defaults;
}

const EMPTY: UserConfig = { contexts: {}, defaults: {} };
const OWNER_ONLY = 0o600;

export function userConfigPath(): string {
  return join(readClientConfig().configHome, "signalbox", "config.json");
}

export async function readUserConfig(): Promise<UserConfig> {
  const path = userConfigPath();
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw new UsageError(`${path} cannot be read (${error.code ?? error.message})`, { cause: error });
  });
  return text === null ? EMPTY : parseUserConfig(text, path);
}

export function parseUserConfig(text: string, path: string): UserConfig {
  const given = parsed(text);
  const problem = problemOf(given);
  if (problem !== null || !isObject(given)) {
    throw new UsageError(`${path} ${problem ?? "is not an object"}. Correct it, or remove it and begin anew`);
  }
  return { contexts: {}, defaults: {}, ...given };
}

/** Undefined: it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOf(given: unknown): string | null {
  if (given === undefined) return "is not JSON";
  if (!isObject(given)) return "is not an object";
  const { context = "", contexts = {}, defaults = {} } = given;
  if (!isText(context)) return "has a context that is not a name";
  if (!isObjectOf(contexts, isContext)) {
    return 'has contexts that are not of the form {"name": {"server": "https://…"}}';
  }
  return isObjectOf(defaults, isText) ? null : "has defaults that are not texts";
}

function isObjectOf(value: unknown, isMember: (member: unknown) => boolean): boolean {
  return isObject(value) && Object.values(value).every(isMember);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Renamed into place: a command that runs at the same time reads the old file or the new one, never half of it. */
export async function writeUserConfig(config: UserConfig): Promise<void> {
  const path = userConfigPath();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const own = `${path}.${process.pid}.new`;
  await writeFile(own, `${JSON.stringify(config, null, 2)}\n`, { mode: OWNER_ONLY });
  await rename(own, path);
}

/** Rather than `contexts[name]`: a context may be called "constructor". */
export function contextCalled(config: UserConfig, name: string): ServerContext {
  const found = Object.hasOwn(config.contexts, name) ? config.contexts[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(config.contexts).toSorted().join(", ");
  throw new UsageError(
    `No context is called "${name}" (known: ${known || "none"}); add it with signalbox context add ${name} --server <url>`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isContext(value: unknown): value is ServerContext {
  if (!isObject(value) || typeof value["server"] !== "string") return false;
  return value["tokenFile"] === undefined || typeof value["tokenFile"] === "string";
}
