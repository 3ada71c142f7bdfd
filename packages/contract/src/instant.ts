import { z } from "zod";

/** ISO 8601 with an offset or Z: an instant, never a local time. */
export const instant = z.iso.datetime({
  offset: true,
  error: "expected an instant such as 2026-11-16T12:00:00Z",
});
