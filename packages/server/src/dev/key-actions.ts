/** What the keys do to the instances, and what the log says about it. */

import { quoted } from "../render/task-name.ts";
import { lengthText } from "../render/time.ts";
import type { Crew } from "./crew.ts";
import type { EventLog } from "./event-log.ts";
import type { InstanceProcess } from "./instance-handle.ts";
import { DEV_LEASE_MS } from "./instance-messages.ts";
import type { Narrator } from "./narrator.ts";

export interface KeyDeps {
  readonly crew: Crew;
  readonly struck: Narrator["struck"];
  readonly log: EventLog["log"];
}

export interface KeyActions {
  kill(): void;
  freeze(): void;
  add(): void;
}

/** Long enough that its lease is gone and its work is elsewhere. */
const FROZEN_FOR_MS = 3 * DEV_LEASE_MS;

export function createKeyActions({ crew, struck, log }: KeyDeps): KeyActions {
  const nobody = (): void =>
    log({ who: "dev", verb: "nobody", text: "is left; a adds an instance", tone: "alert" });

  const wake = (instance: InstanceProcess, frozenAtMs: number): void => {
    if (!instance.frozen) return;
    instance.wake();
    const text = `SIGCONT after ${lengthText(performance.now() - frozenAtMs)}`;
    log({ who: instance.name, verb: "woken", text, tone: "alert" });
  };
  let wakeFrozen: (() => void) | null = null;

  return {
    kill: () => {
      const victim = crew.pick() ?? crew.frozen();
      if (victim === null) return nobody();
      struck(victim.name, "kill", performance.now());
      victim.kill();
      log({ who: victim.name, verb: "killed", text: `kill -9 ${whileItRan(victim)}`, tone: "bad" });
    },
    freeze: () => {
      if (wakeFrozen !== null && crew.frozen() !== null) return wakeFrozen();
      const victim = crew.pick();
      if (victim === null) return nobody();
      const atMs = performance.now();
      struck(victim.name, "freeze", atMs);
      victim.freeze();
      const until = `woken in ${lengthText(FROZEN_FOR_MS)}, or by f`;
      log({ who: victim.name, verb: "frozen", text: `SIGSTOP ${whileItRan(victim)}; ${until}`, tone: "bad" });
      wakeFrozen = () => {
        clearTimeout(timer);
        wakeFrozen = null;
        wake(victim, atMs);
      };
      const timer = setTimeout(wakeFrozen, FROZEN_FOR_MS);
      timer.unref();
    },
    add: () => {
      const { name } = crew.add();
      log({ who: name, verb: "added", text: "", tone: "quiet" });
    },
  };
}

function whileItRan({ running }: InstanceProcess): string {
  if (running.size === 0) return "while it ran nothing";
  return `while it ran ${[...running.values()].map(quoted).join(", ")}`;
}
