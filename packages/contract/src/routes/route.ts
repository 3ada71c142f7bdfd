import type { z } from "zod";

/** One address of the API: how it is asked, and with what it answers. */
export interface Route {
  /** Unique; mostly the method of the client. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Parts that are filled in begin with a colon. */
  readonly path: string;
  /** Under which heading it stands. */
  readonly group: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** A request without a body means the same as `{}`. Default: false. */
  readonly bodyOptional?: true;
  /** Takes the header `Idempotency-Key`. Default: false. */
  readonly idempotent?: true;
  /** Null: it answers 204, with nothing. A text: what is answered is no JSON but of this type. */
  readonly answer: z.ZodType | string | null;
  /** Default: 200, or 204 where there is no answer. */
  readonly status?: number;
}

/** As it stands under a heading. */
export type GroupedRoute = Omit<Route, "group">;
