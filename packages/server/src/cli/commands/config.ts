/** What is set, and by whom. */

import { readClientConfig, readConfig } from "../../config.ts";
import type { Column } from "../../render/table.ts";
import { safeText } from "../../render/task-name.ts";
import { UsageError } from "../../usage-error.ts";
import { namedPlace } from "../find-server.ts";
import type { Output } from "../output.ts";
import { printList } from "../print.ts";
import { COLORS, FORMATS, type ListOptions, timeZone } from "../shared-options.ts";
import {
  contextCalled,
  readUserConfig,
  type UserConfig,
  userConfigPath,
  writeUserConfig,
} from "../user-config.ts";

export interface ConfigListOptions extends ListOptions {
  readonly showOrigin?: true;
}

const KEYS = ["context", "output", "color", "tz"] as const;
type Key = (typeof KEYS)[number];

interface Setting {
  readonly key: string;
  readonly value: string | null;
  readonly origin: string;
}

export async function configGet(key: string, output: Output): Promise<void> {
  const known = keyOf(key);
  const { value } = (await settings()).find((setting) => setting.key === known) ?? { value: null };
  if (value === null)
    throw new UsageError(`${known} is not set; set it: signalbox config set ${known} <value>`);
  output.data(value);
}

/** An empty value takes the setting off. */
export async function configSet(
  { key, value }: { readonly key: string; readonly value: string },
  output: Output,
): Promise<void> {
  const known = keyOf(key);
  const config = await readUserConfig();
  await writeUserConfig(changed(config, known, value));
  output.note(value === "" ? `${known} is not set any more.` : `${known} is ${value} now.`);
}

export async function configList(options: ConfigListOptions, output: Output): Promise<void> {
  const rows = await settings();
  const columns: readonly Column<Setting>[] = [
    { name: "key", text: ({ key }) => key },
    { name: "value", text: ({ value }) => safeText(value ?? "") },
    ...(options.showOrigin === true
      ? [{ name: "origin", text: ({ origin }: Setting) => safeText(origin) }]
      : []),
  ];
  printList({ rows, columns, nameOf: ({ key }) => key, empty: "" }, options, output);
}

export function configPath(output: Output): void {
  output.data(userConfigPath());
}

function keyOf(given: string): Key {
  const key = KEYS.find((each) => each === given);
  if (key !== undefined) return key;
  const server =
    given === "server" ? "; servers are contexts: signalbox context add <name> --server <url>" : "";
  throw new UsageError(`There is no setting "${given}"; there are ${KEYS.join(", ")}${server}`);
}

function changed(config: UserConfig, key: Key, value: string): UserConfig {
  if (key === "context") {
    const { context: _, ...rest } = config;
    if (value === "") return rest;
    contextCalled(config, value);
    return { ...rest, context: value };
  }
  const { [key]: _, ...others } = config.defaults;
  return { ...config, defaults: value === "" ? others : { ...others, [key]: checkedValue(key, value) } };
}

function checkedValue(key: Exclude<Key, "context">, value: string): string {
  if (key === "tz") return zoneOf(value);
  const choices: readonly string[] = key === "output" ? FORMATS : COLORS;
  if (choices.includes(value)) return value;
  throw new UsageError(`"${value}" is not a value of ${key}; there are ${choices.join(", ")}`);
}

function zoneOf(value: string): string {
  try {
    return timeZone(value);
  } catch (cause) {
    throw new UsageError(`"${value}" is not a time zone; give a name such as "Europe/Berlin" or "UTC"`, {
      cause,
    });
  }
}

async function settings(): Promise<readonly Setting[]> {
  const { context, defaults } = await readUserConfig();
  const named = readClientConfig().context;
  const place = await namedPlace({});
  const { color, token, tokenFile } = readConfig();
  const path = userConfigPath();
  const kept = (key: Key, value: string | undefined): Setting => setting(key, value ?? null, path);
  return [
    setting("server", place?.url ?? null, place?.origin ?? ""),
    named === null ? kept("context", context) : setting("context", named, "SIGNALBOX_CONTEXT"),
    kept("output", defaults.output),
    color === null
      ? kept("color", defaults.color)
      : setting("color", color ? "always" : "never", "FORCE_COLOR or NO_COLOR"),
    kept("tz", defaults.tz),
    // Whether there is one, never what it is.
    setting("token", token === null ? null : "(set)", "SIGNALBOX_TOKEN"),
    tokenFileSetting(tokenFile, place),
  ];
}

function setting(key: string, value: string | null, origin: string): Setting {
  return { key, value, origin: value === null ? "default" : origin };
}

function tokenFileSetting(
  ofEnvironment: string | null,
  place: Awaited<ReturnType<typeof namedPlace>>,
): Setting {
  return ofEnvironment === null
    ? setting("token-file", place?.tokenFile ?? null, "the context")
    : setting("token-file", ofEnvironment, "SIGNALBOX_TOKEN_FILE");
}
