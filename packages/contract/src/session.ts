import { z } from "zod";

/** For browsers: the token is given once, and a cookie that is not it comes back. */
export const sessionRequestSchema = z.strictObject({ token: z.string() });

export type SessionRequest = z.infer<typeof sessionRequestSchema>;
