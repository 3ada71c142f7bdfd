import { z } from "zod";

/** Who asks, and why; recorded with what it is about. */
export const asked = {
  by: z.string().max(200).exactOptional(),
  reason: z.string().max(2_000).exactOptional(),
};

export const askedSchema = z.strictObject(asked);

/** False: it was so before. */
export const changedSchema = z.object({ changed: z.boolean() });

export type Asked = z.infer<typeof askedSchema>;
export type Changed = z.infer<typeof changedSchema>;
