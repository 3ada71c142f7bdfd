import { z } from "zod";

/** Counted up to a bound: with `atLeast` it stopped there, and there may be more. */
export const count = z.object({ count: z.int(), atLeast: z.boolean() });

export type Count = z.infer<typeof count>;
