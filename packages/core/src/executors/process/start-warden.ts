import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ownMark, wardenSign } from "./process-mark.ts";
import { lastWordsFile } from "./warden-folder.ts";

/**
 * Starts the warden from this package: `.js` from the build, `.ts` from the sources through tsx. In a session of its
 * own, so that a Ctrl-C in the terminal does not reach it, and without any environment: its children could read it.
 */
export async function startWarden(folder: string, perl: string): Promise<ChildProcess> {
  const fromSources = import.meta.url.endsWith(".ts");
  const file = fileURLToPath(new URL(`./warden.${fromSources ? "ts" : "js"}`, import.meta.url));
  const loader = fromSources ? [`--import=${import.meta.resolve("tsx")}`] : [];
  const mark = ownMark();
  const sign = mark === null ? [] : [wardenSign(mark.process)];
  const lastWords = openSync(lastWordsFile(folder), "w", 0o600);
  try {
    const warden = spawn(process.execPath, [...loader, file, folder, perl, ...sign], {
      cwd: "/",
      env: {},
      detached: true,
      // The last one is the lifeline.
      stdio: ["ignore", "ignore", lastWords, "pipe"],
    });
    // Known at once where it was started; otherwise the reason comes as an event, and there may be no lifeline at all.
    if (warden.pid === undefined) throw await new Promise<Error>((resolve) => warden.once("error", resolve));
    return warden;
  } finally {
    closeSync(lastWords);
  }
}
