/** The token as the environment gives it. Never by a flag: the list of processes shows those. */

import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import { requireToken } from "../http/token.ts";
import { UsageError } from "../usage-error.ts";

/** Null where none is given. */
export async function readToken({
  token,
  tokenFile,
}: Pick<Config, "token" | "tokenFile">): Promise<string | null> {
  if (token !== null && tokenFile !== null) {
    throw new UsageError("SIGNALBOX_TOKEN and SIGNALBOX_TOKEN_FILE are both set; set one of them");
  }
  if (token !== null) return requireToken(token, "SIGNALBOX_TOKEN");
  return tokenFile === null ? null : requireToken(await textIn(tokenFile), "SIGNALBOX_TOKEN_FILE");
}

async function textIn(file: string): Promise<string> {
  try {
    // Editors end a file with a newline, and that is no part of the token.
    return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
  } catch (cause) {
    const problem = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new UsageError(`SIGNALBOX_TOKEN_FILE cannot be read: ${file} (${problem})`);
  }
}
