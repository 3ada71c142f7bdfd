import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EXIT, type ExitCode } from "../cli/exit-code.ts";
import type { Output } from "../cli/output.ts";
import { removePostgres } from "../postgres/remove.ts";
import { answers, isAlive, readDevs } from "./registry.ts";

/** Throws away what `dev` keeps in this folder. Refuses while one runs there. */
export async function resetDev(dir: string, output: Output): Promise<ExitCode> {
  for (const dev of (await readDevs(dir)).filter(isAlive)) {
    if (dev.url !== null && !(await answers(dev))) continue;
    output.note(
      `Signalbox runs here (process ${dev.pid}${dev.url === null ? "" : `, ${dev.url}`}). Quit it first.`,
    );
    return EXIT.refused;
  }
  // First: the folder goes with its last file.
  await rm(join(dir, "dev"), { recursive: true, force: true });
  await removePostgres(dir);
  output.data("The private PostgreSQL of this folder and its data are gone.");
  return EXIT.ok;
}
