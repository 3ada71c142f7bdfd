import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ownMark, wardenSign } from "./process-mark.ts";
import { LIFELINE_FD } from "./warden-messages.ts";

/**
 * Starts the warden from this package: `.js` from the build, `.ts` from the sources through tsx. In a session of its
 * own, so that a Ctrl-C in the terminal does not reach it, and without any environment: its children could read it.
 */
export function startWarden(folder: string): ChildProcess {
  const fromSources = import.meta.url.endsWith(".ts");
  const file = fileURLToPath(new URL(`./warden.${fromSources ? "ts" : "js"}`, import.meta.url));
  const loader = fromSources ? [`--import=${import.meta.resolve("tsx")}`] : [];
  const mark = ownMark();
  const sign = mark === null ? [] : [wardenSign(mark.process)];
  return spawn(process.execPath, [...loader, file, folder, ...sign], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: [...Array.from({ length: LIFELINE_FD }, () => "ignore" as const), "pipe"],
  });
}
