import { z } from "zod";
import { instant } from "./instant.ts";

const windowKind = z.enum(["maintenance", "freeze"]);

/** Maintenance: work may start only inside. Freeze: work may not start inside. */
export const windowSpec = z.union(
  [
    z.strictObject({
      kind: windowKind,
      /** Cron, five or six fields, read in `timeZone`. */
      opens: z.string(),
      lastsMs: z.number(),
      timeZone: z.string(),
    }),
    z.strictObject({ kind: windowKind, from: instant, until: instant }),
  ],
  {
    error:
      'expected a window: kind ("maintenance" or "freeze"), and either opens, lastsMs and timeZone, or from and until as instants',
  },
);

/** Whether work may start now. `until`, `opensAt`: null where it is not in sight. */
export const windowNow = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("open"), until: instant.nullable() }),
  z.object({ kind: z.literal("closed"), because: windowKind, opensAt: instant.nullable() }),
]);

const ofQueue = z.strictObject({ queue: z.string() });
const ofResource = z.strictObject({ resource: z.string() });
const ofRun = z.strictObject({ runId: z.string() });

/** What can have windows. */
export const windowed = z.union([ofQueue, ofResource], { error: "expected one of queue or resource" });

/** What can be paused. */
export const pausable = z.union([ofQueue, ofResource, ofRun], {
  error: "expected one of queue, resource or runId",
});

export const pause = z.object({ since: instant, by: z.string().nullable(), reason: z.string().nullable() });

/** What people put on a queue or a resource. */
export const rulesOn = {
  paused: pause.nullable(),
  windows: z.array(windowSpec),
  /** Whether work may start there now, by its windows; without any it is open. */
  now: windowNow,
};

export type WindowSpec = z.infer<typeof windowSpec>;
export type Windowed = z.infer<typeof windowed>;
export type Pausable = z.infer<typeof pausable>;
export type Pause = z.infer<typeof pause>;
