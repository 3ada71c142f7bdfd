/**
 * An instance that starts looks once for others on its host whose process is gone: nothing of theirs is at work any
 * more, so nobody has to wait for the end of their lease. Where a warden is still ending what they left behind, it is
 * looked at again until the warden has gone.
 */

import { hasWarden, ownMark, stateOf } from "../executors/process/process-mark.ts";
import type { Pool } from "../store/database.ts";
import { expireGone, type Neighbour, readNeighbours } from "../store/instances/neighbours.ts";
import type { Emit } from "./telemetry.ts";

export interface Neighbours {
  /** Marks those DEAD of whom nothing is left: the next rescue settles what they had RUNNING. */
  readonly expire: () => Promise<void>;
}

export function createNeighbours(pool: Pool, emit: Emit): Neighbours {
  /** Null: not looked yet. */
  let ended: readonly Neighbour[] | null = null;
  return {
    expire: async () => {
      ended ??= await findEnded(pool);
      const gone = ended.filter(({ process }) => stateOf(process) === "gone" && !hasWarden(process));
      if (gone.length === 0) return;
      const lost = await pool.transaction(
        async (tx) =>
          await expireGone(
            tx,
            gone.map(({ instanceId }) => instanceId),
          ),
      );
      ended = ended.filter((neighbour) => !gone.includes(neighbour));
      for (const { instanceId, name, silentMs } of lost)
        emit({ type: "instance.lost", lostInstanceId: instanceId, lostName: name, silentMs });
    },
  };
}

async function findEnded(pool: Pool): Promise<readonly Neighbour[]> {
  const mark = ownMark();
  if (mark === null) return [];
  const neighbours = await readNeighbours(pool, mark.host);
  return neighbours.filter(({ process }) => stateOf(process) !== "living");
}
