import { parseBasePath, parsePort, readConfig } from "../../config.ts";
import { readToken } from "../../serve/read-token.ts";
import type { ServeSettings } from "../../serve/serve-settings.ts";
import { UsageError } from "../../usage-error.ts";
import { requireDatabaseUrl } from "../database-url.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Output } from "../output.ts";

export interface ServeOptions {
  readonly host?: string;
  readonly port?: string;
  readonly databaseUrl?: string;
  readonly tasks?: string;
  readonly slots?: number;
  readonly migrate?: true;
  readonly drain?: string;
  readonly basePath?: string;
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 7_410;
const DEFAULT_DRAIN = "30s";
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const LONGEST_DRAIN_MS = 86_400_000;

export async function serve(options: ServeOptions, output: Output): Promise<ExitCode> {
  const settings = await serveSettingsOf(options);
  const { runServe } = await import("../../serve/run-serve.ts");
  return await runServe(settings, output);
}

// oxlint-disable-next-line complexity -- one default per field; nothing is decided here
async function serveSettingsOf(options: ServeOptions): Promise<ServeSettings> {
  const config = readConfig();
  const token = await readToken(config);
  if (token === null) {
    throw new UsageError(
      "serve needs a token that its callers know: set SIGNALBOX_TOKEN, or SIGNALBOX_TOKEN_FILE to a file that holds it",
    );
  }
  return {
    databaseUrl: requireDatabaseUrl(options.databaseUrl, config),
    directUrl: config.directUrl,
    host: options.host ?? config.host ?? DEFAULT_HOST,
    port: options.port === undefined ? (config.port ?? DEFAULT_PORT) : parsePort(options.port, "--port"),
    basePath:
      options.basePath === undefined ? config.basePath : parseBasePath(options.basePath, "--base-path"),
    trustedProxies: config.trustedProxies,
    token,
    environmentName: config.environmentName,
    instanceName: config.instanceName,
    tasksFile: options.tasks ?? null,
    slots: options.slots ?? null,
    migrate: options.migrate === true,
    drainMs: drainMsOf(options.drain ?? DEFAULT_DRAIN),
    logLevel: config.logLevel,
    logFormat: config.logFormat ?? (process.stderr.isTTY === true ? "text" : "json"),
  };
}

function drainMsOf(text: string): number {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  const ms = Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (ms <= LONGEST_DRAIN_MS) return ms;
  throw new UsageError(`--drain is "${text}"; give a length such as 500ms, 30s, 5m or 1h, at most a day`);
}
