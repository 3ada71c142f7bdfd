import { resolve } from "node:path";
import { parsePort, readConfig } from "../../config.ts";
import type { DevSettings } from "../../dev/dev-settings.ts";
import { UsageError } from "../../usage-error.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Output } from "../output.ts";

export interface DevOptions {
  readonly once?: true;
  readonly demo: boolean;
  readonly instances?: number;
  readonly port?: string;
  readonly databaseUrl?: string;
  readonly reset?: true;
}

const DEFAULT_PORT = 7_410;
const DEFAULT_INSTANCES = 3;

export async function dev(options: DevOptions, output: Output): Promise<ExitCode> {
  const dir = resolve(".signalbox");
  if (options.reset) {
    const { resetDev } = await import("../../dev/reset.ts");
    return resetDev(dir, output);
  }
  const settings = devSettingsOf(options, dir);
  const { runDev } = await import("../../dev/run-dev.ts");
  return runDev(settings, output);
}

function devSettingsOf(options: DevOptions, dir: string): DevSettings {
  const config = readConfig();
  const instances = options.instances ?? DEFAULT_INSTANCES;
  const once = options.once === true;
  if (once && instances === 0) throw new UsageError("--once needs at least one instance");
  if (once && !options.demo) throw new UsageError("--once runs the demo, so --no-demo cannot be");
  return {
    dir,
    databaseUrl: options.databaseUrl === undefined ? config.databaseUrl : databaseUrlOf(options.databaseUrl),
    directUrl: config.directUrl,
    pgBinDir: config.pgBinDir,
    port: options.port === undefined ? (config.port ?? DEFAULT_PORT) : parsePort(options.port, "--port"),
    instances,
    demo: options.demo,
    once,
    interactive: !config.ci && isTerminal(),
  };
}

/** Not repeated: it may have a password in it. */
function databaseUrlOf(given: string): string {
  if (/^postgres(ql)?:\/\//.test(given)) return given;
  throw new UsageError(
    "--database-url is not a URL of the form postgres://user:password@host:5432/database; correct it, or leave it out",
  );
}

function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}
