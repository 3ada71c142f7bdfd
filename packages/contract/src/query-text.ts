/** What a query string is made of: everything there is text. */

import { z } from "zod";

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, "expected a whole number")
    .transform(Number)
    .pipe(z.int().min(least).max(most));
}

/** Several of these, with commas between them. */
export function commaList<Item extends z.ZodType<string, string>>(item: Item) {
  return z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(item));
}

export function yesOrNo() {
  return z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .pipe(z.boolean());
}
