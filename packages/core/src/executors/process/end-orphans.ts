/**
 * The warden is lost: nobody else knows its groups now, and its tasks may be begun anew as soon as they are said to have
 * ended. Each ends by itself, so that none waits for another.
 */

import { setTimeout as wait } from "node:timers/promises";
import { monotonicMs } from "../monotonic.ts";
import { ownMark } from "./process-mark.ts";
import { WardenLostError } from "./running-process.ts";
import { type Look, lookForStarts } from "./start-mark.ts";
import { livingGroups, signalGroup } from "./system-processes.ts";
import { type Child, finish } from "./warden-child.ts";

const LOOK_MS = 10;
/** How long nobody can be sure, at most: a program that is just being loaded is there much sooner. */
const SURE_WITHIN_MS = 5_000;

/** `wardenCommand` is the warden's command line. */
export async function endOrphans(children: Map<string, Child>, wardenCommand: string): Promise<void> {
  const known = new Map<string, number>();
  const unreported = new Map<string, Child>();
  for (const [id, child] of children) {
    if (child.pid === null) unreported.set(id, child);
    else if (child.end === null) known.set(id, child.pid);
  }
  // What it still said of them is not heard any more.
  for (const id of unreported.keys()) children.delete(id);
  await Promise.all([
    endKnown(known, (id) =>
      finish(children, id, { exitCode: null, signal: null, because: "warden_lost", told: true }),
    ),
    endUnreported(
      new Set(unreported.keys()),
      (ids) => lookUnlessBlind(ids, wardenCommand),
      (id) => unreported.get(id)?.started.reject(new WardenLostError()),
    ),
  ]);
}

async function endKnown(known: Map<string, number>, onEnded: (id: string) => void): Promise<void> {
  for (const pid of known.values()) signalGroup(pid, "SIGKILL");
  while (known.size > 0) {
    const living = livingGroups([...known.values()]);
    for (const [id, pid] of known) {
      if (living.has(pid)) continue;
      known.delete(id);
      onEnded(id);
    }
    if (known.size > 0) await wait(LOOK_MS);
  }
}

/** Where the system does not show processes nobody can know of them. */
function lookUnlessBlind(ids: ReadonlySet<string>, wardenCommand: string): Look {
  return ownMark() === null ? { found: [], isSure: true } : lookForStarts(ids, wardenCommand);
}

/** What it was asked to start may have begun, with its last act. */
export async function endUnreported(
  ids: Set<string>,
  look: (ids: ReadonlySet<string>) => Look,
  onEnded: (id: string) => void,
  sureWithinMs: number = SURE_WITHIN_MS,
): Promise<void> {
  const sureAtMs = monotonicMs() + sureWithinMs;
  while (ids.size > 0) {
    const { found, isSure } = look(ids);
    for (const { groupId } of found) signalGroup(groupId, "SIGKILL");
    const living = new Set(found.map(({ id }) => id));
    // One that is no program yet may be any of them.
    const isClear = !living.has(null) && (isSure || monotonicMs() >= sureAtMs);
    for (const id of isClear ? ids : []) {
      if (living.has(id)) continue;
      ids.delete(id);
      onEnded(id);
    }
    if (ids.size > 0) await wait(LOOK_MS);
  }
}
