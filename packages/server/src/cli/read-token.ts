import { readFile } from "node:fs/promises";
import { UsageError } from "../usage-error.ts";

/** What a header can carry: RFC 9110 allows no more in a field of this kind. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** The first line of the file. A message names the file, never what is in it. */
export async function readToken(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    const problem = error.code === "ENOENT" ? "is not there" : `cannot be read (${error.code ?? "unknown"})`;
    throw new UsageError(`The token file ${file} ${problem}`, { cause: error });
  });
  return checkedToken((text.split("\n")[0] ?? "").trim(), `The first line of the token file ${file}`);
}

/** Nobody could send another one: a header has no room for it. */
export function checkedToken(token: string, source: string): string {
  if (TOKEN.test(token)) return token;
  throw new UsageError(`${source} is not a token: visible ASCII characters without spaces`);
}
