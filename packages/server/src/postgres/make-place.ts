import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { mustLend } from "./server-user.ts";

/** Makes a folder and what is missing above it, open to the server's user even where root works under umask 077. */
export async function makePlace(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined || !mustLend()) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await chmod(made, 0o755);
}
