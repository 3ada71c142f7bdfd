import { z } from "zod";

/** Every answer that is not a success, as RFC 9457 has it. `code` is stable, `detail` is for people. */
export const problemSchema = z.object({
  type: z.literal("about:blank"),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  /** Also the header X-Request-Id, and in the server's log. Missing where no request could be read. */
  requestId: z.string().optional(),
});

export type Problem = z.infer<typeof problemSchema>;
