/** `signalbox dev`, from the first line to the last process. */

import { once } from "node:events";
import { EXIT, type ExitCode } from "../cli/exit-code.ts";
import type { Output } from "../cli/output.ts";
import { keepDemoGoing } from "../demo/keep-going.ts";
import { runDemoOnce } from "../demo/run-once.ts";
import { STORIES } from "../demo/stories.ts";
import { factLine, keysLine, placeLines, tryLines } from "./banner.ts";
import type { DevSettings } from "./dev-settings.ts";
import { createEventLog, type EventLog } from "./event-log.ts";
import { createKeyActions, type KeyActions } from "./key-actions.ts";
import { type Key, listenForKeys } from "./keys.ts";
import { createLeaving, type Leaving } from "./leaving.ts";
import { createNarrator, type Narrator } from "./narrator.ts";
import { openStation, type Station } from "./open-station.ts";
import { listenForQuit, type Quit } from "./quit.ts";
import { otherDevs, type RegisteredDev } from "./registry.ts";
import { showDemo } from "./show-demo.ts";

interface Dev {
  readonly settings: DevSettings;
  readonly output: Output;
  readonly eventLog: EventLog;
  readonly narrator: Narrator;
  readonly leaving: Leaving;
  readonly quit: Quit;
}

const ONCE_AT_MOST_MS = 180_000;

/** Resolves when nothing of it is left running. */
export async function runDev(settings: DevSettings, output: Output): Promise<ExitCode> {
  const leaving = createLeaving((error) =>
    output.note(error instanceof Error ? error.message : String(error)),
  );
  const quit = listenForQuit();
  output.whenClosed(quit.now);
  const eventLog = createEventLog(output.data, output.look);
  const dev: Dev = { settings, output, eventLog, narrator: createNarrator(eventLog.log), leaving, quit };
  const keys = heedKeys(dev);
  try {
    const station = await openStation({ ...dev, signal: quit.signal });
    quit.onAgain(() => station.crew.killAll());
    keys.reach(station);
    return settings.once ? await playOnce(dev, station) : await playUntilQuit(dev, station);
  } catch (error) {
    // Stopped while it started: what was started is undone below.
    if (quit.signal.aborted) return EXIT.ok;
    throw error;
  } finally {
    await leaving.leave();
    quit.dispose();
  }
}

async function playOnce({ output, eventLog, quit }: Dev, { scheduler, places }: Station): Promise<ExitCode> {
  for (const line of placeLines(places, output.look)) output.data(line);
  output.data("");
  eventLog.open();
  const ended = await runDemoOnce(
    scheduler,
    AbortSignal.any([quit.signal, AbortSignal.timeout(ONCE_AT_MOST_MS)]),
  );
  eventLog.close();
  const exitCode = await showDemo(scheduler, ended, output);
  return quit.signal.aborted ? EXIT.interrupted : exitCode;
}

async function playUntilQuit(dev: Dev, station: Station): Promise<ExitCode> {
  const { settings, output, eventLog, quit } = dev;
  output.data(factLine("Demo", await demoText(dev, station), output.look));
  for (const line of placeLines(station.places, output.look)) output.data(line);
  output.data("");
  for (const line of tryLines(output.look)) output.data(line);
  output.data("");
  output.data(settings.interactive ? keysLine(output.look) : "  Ctrl-C or SIGTERM stops it");
  output.data("");
  eventLog.open();
  if (settings.demo) startDemo(dev, station);
  if (!quit.signal.aborted) await once(quit.signal, "abort");
  eventLog.log({
    who: "dev",
    verb: "quitting",
    text: "instances finish what they run; once more ends them at once",
  });
  return EXIT.ok;
}

/** `q` is heard from the first moment to the last; the others once there is somebody to hit. */
function heedKeys({ settings, eventLog, narrator, leaving, quit }: Dev): { reach(station: Station): void } {
  let actions: KeyActions | null = null;
  const onKey = (key: Key): void => {
    if (key === "q") return quit.now();
    if (!quit.signal.aborted) actions?.[ACTION_OF[key]]();
  };
  if (settings.interactive) leaving.add(listenForKeys(process.stdin, onKey));
  return {
    reach: ({ crew }) => {
      actions = createKeyActions({ crew, struck: narrator.struck, log: eventLog.log });
    },
  };
}

const ACTION_OF = { k: "kill", f: "freeze", a: "add" } as const satisfies Record<
  Exclude<Key, "q">,
  keyof KeyActions
>;

function startDemo({ settings, narrator, leaving, quit }: Dev, { scheduler, registration }: Station): void {
  const ended = keepDemoGoing(
    {
      scheduler,
      isOurTurn: async () => (await demoLeader(settings.dir, registration.dev)) === null,
      onProblem: (error) =>
        narrator.trouble("dev", "demo", error instanceof Error ? error.message : String(error)),
    },
    quit.signal,
  );
  leaving.add(() => ended);
}

async function demoText({ settings }: Dev, { registration }: Station): Promise<string> {
  if (!settings.demo) return "none";
  const leader = await demoLeader(settings.dir, registration.dev);
  return leader === null ? STORIES.map(({ name }) => name).join(", ") : `kept going by ${leader.url}`;
}

/** Of several in one folder, the longest running one keeps the demo going. Null: it is our turn. */
async function demoLeader(dir: string, own: RegisteredDev): Promise<RegisteredDev | null> {
  const others = await otherDevs(dir, own);
  return others.find(({ demo, url, startedAt }) => demo && url !== null && startedAt < own.startedAt) ?? null;
}
