/** The warden is lost: nobody else knows its groups now, and its tasks may be begun anew as soon as they are said to have ended. */

import { endLeftBehind } from "./end-left-behind.ts";
import { WardenLostError } from "./running-process.ts";
import { type Child, finish } from "./warden-child.ts";

/** `forkers` are the command lines of those who may have forked a child: the warden's and its forker's. */
export async function endOrphans(children: Map<string, Child>, forkers: ReadonlySet<string>): Promise<void> {
  const known = new Map<string, number>();
  const unreported = new Map<string, Child>();
  for (const [id, child] of children) {
    if (child.pid === null) unreported.set(id, child);
    else if (child.end === null) known.set(id, child.pid);
  }
  // What it still said of them is not heard any more.
  for (const id of unreported.keys()) children.delete(id);
  await endLeftBehind({
    known,
    unreported: new Set(unreported.keys()),
    forkers,
    onKnownEnded: (id) =>
      finish(children, id, { exitCode: null, signal: null, because: "warden_lost", told: true }),
    onUnreportedEnded: (id) => unreported.get(id)?.started.reject(new WardenLostError()),
  });
}
