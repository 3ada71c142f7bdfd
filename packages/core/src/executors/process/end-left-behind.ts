/**
 * Ends what somebody who is lost had started: the groups that are known of it, and what it had no time to tell of. Each ends by
 * itself, so that none waits for another.
 */

import { setTimeout as wait } from "node:timers/promises";
import { monotonicMs } from "../monotonic.ts";
import { ownMark } from "./process-mark.ts";
import { type Look, lookForStarts } from "./start-mark.ts";
import { livingGroups, signalGroup } from "./system-processes.ts";

export interface LeftBehind {
  /** Which group a start has become. */
  readonly known: Map<string, number>;
  /** The starts that were asked for and not told of. */
  readonly unreported: Set<string>;
  /** The command lines of those who fork: a child has that of its parent until it becomes a program of its own. */
  readonly forkers: ReadonlySet<string>;
  readonly onKnownEnded?: (id: string) => void;
  readonly onUnreportedEnded?: (id: string) => void;
}

const LOOK_MS = 10;
/** How long nobody can be sure, at most: a program that is just being loaded is there much sooner. */
const SURE_WITHIN_MS = 5_000;

export async function endLeftBehind({
  known,
  unreported,
  forkers,
  onKnownEnded = () => {},
  onUnreportedEnded = () => {},
}: LeftBehind): Promise<void> {
  await Promise.all([
    endKnown(known, onKnownEnded),
    endUnreported(unreported, (ids) => lookUnlessBlind(ids, forkers), onUnreportedEnded),
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
function lookUnlessBlind(ids: ReadonlySet<string>, forkers: ReadonlySet<string>): Look {
  return ownMark() === null ? { found: [], isSure: true } : lookForStarts(ids, forkers);
}

/** What was asked for may have begun, with the last act of whoever was asked. */
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
