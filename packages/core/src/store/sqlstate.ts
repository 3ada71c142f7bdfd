import pg from "pg";

/** Whether the server said so, and by what kind of code. */
export function isOfClass(error: unknown, classes: RegExp): boolean {
  return error instanceof pg.DatabaseError && classes.test(error.code ?? "");
}
