/** The caller asked for something that cannot be: one sentence, which says what to give instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
