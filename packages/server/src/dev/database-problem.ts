/** The server behind a URL cannot be used; the message is one sentence and what to do. */
export class DatabaseProblemError extends Error {
  override readonly name = "DatabaseProblemError";
}
