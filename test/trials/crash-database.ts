/** The server is ended as if killed, again and again. */

import type { Rig } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { until } from "../ha/until.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;

export async function crashDatabase(
  { cluster, postgres }: Rig,
  { times, everyMs }: { readonly times: number; readonly everyMs: number },
): Promise<Shown> {
  const failedBefore = cluster.count("loop.failed");
  for (let stops = 0; stops < times; stops += 1) {
    const begunAtMs = performance.now();
    await postgres.restart("immediate");
    // Evenly over the time, whatever a recovery takes.
    await until("the next is due", () => performance.now() > begunAtMs + everyMs, { withinMs: WITHIN_MS });
  }
  const paths = { "failed passes": cluster.count("loop.failed") - failedBefore };
  requireTaken(paths);
  return { faults: { "immediate stops": times }, paths };
}
