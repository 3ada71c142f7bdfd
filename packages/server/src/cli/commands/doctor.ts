import { readConfig } from "../../config.ts";
import { type Finding, findingLines } from "../../render/finding-lines.ts";
import { checkApi } from "../doctor/check-api.ts";
import { checkNode, checkSettings, checkTimeZones } from "../doctor/check-machine.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions } from "../shared-options.ts";

/** Exit code 1: something fails. 9: nothing but the server or the database does, which cannot be reached. */
export async function doctor(options: AskOptions, output: Output): Promise<ExitCode> {
  const findings: readonly Finding[] = [
    checkNode(process.version),
    checkTimeZones(),
    await checkSettings(),
    ...(await checkApi(options)),
    ...(await databaseFindings()),
  ];
  const lines = (): readonly string[] => findingLines(findings, output.look);
  printOne({ findings }, { name: "doctor", lines }, { options, output });
  return exitCodeFor(findings);
}

/** Only one that was named: the private one of `dev` is looked after by `dev`. */
async function databaseFindings(): Promise<readonly Finding[]> {
  const { databaseUrl } = readConfig();
  if (databaseUrl === null) return [];
  const { checkDatabase } = await import("../doctor/check-database.ts");
  return await checkDatabase(databaseUrl);
}

export function exitCodeFor(findings: readonly Finding[]): ExitCode {
  const failed = findings.filter(({ state }) => state === "fail").map(({ what }) => what);
  if (failed.length === 0) return EXIT.ok;
  return failed.every((what) => what === "server" || what === "database")
    ? EXIT.unreachable
    : EXIT.unexpected;
}
