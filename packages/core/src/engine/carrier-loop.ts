import { monotonicMs } from "../executors/monotonic.ts";
import { carryOnOnce } from "./carrier.ts";
import type { EngineParts } from "./engine.ts";
import { LookAhead } from "./look-ahead.ts";
import { createLoop, type Loop } from "./loop.ts";

/** Goes on with the operations that others have asked for. */
export function carrierLoop({ pool, settings, wakeups, emit, onPassed, onError }: EngineParts): Loop {
  const ahead = new LookAhead();
  return createLoop({
    name: "carrier",
    intervalMs: settings.pollIntervalMs,
    pass: async () => {
      const beganAtMs = monotonicMs();
      const carried = await carryOnOnce({ pool, ahead, emit });
      if (carried === null) return "rest";
      if (carried.done > 0) {
        wakeups.send("signalbox_gate");
        if (carried.verb === "cancel") wakeups.send("signalbox_cancel");
      }
      // As the pruner does: between two bites the gate lock is somebody else's.
      return { againInMs: monotonicMs() - beganAtMs };
    },
    onPassed,
    onError,
  });
}
