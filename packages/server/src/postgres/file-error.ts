/** What an error of the operating system means here. */

const MISSING = new Set(["ENOENT", "ENOTDIR"]);
const NOT_PERMITTED = new Set(["EACCES", "EPERM", "EROFS"]);
const TAKEN = new Set(["EEXIST", "ENOTEMPTY"]);

export function isMissing(error: unknown): boolean {
  return MISSING.has(systemCode(error));
}

export function isNotPermitted(error: unknown): boolean {
  return NOT_PERMITTED.has(systemCode(error));
}

export function isTaken(error: unknown): boolean {
  return TAKEN.has(systemCode(error));
}

/** The `code` of an error ("ENOENT", or an SQLSTATE); empty where it has none. */
export function systemCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
