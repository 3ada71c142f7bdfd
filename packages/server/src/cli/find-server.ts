/** Which server a command talks to: the one it was given, else the one that runs in this folder or above. */

import { dirname, join } from "node:path";
import { type Client, createClient } from "@signalbox/contract";
import { readConfig } from "../config.ts";
import { answers, isAlive, type RegisteredDev, readDevs } from "../dev/registry.ts";
import { UsageError } from "../usage-error.ts";

export class NoServerError extends Error {
  override readonly name = "NoServerError";
}

export async function findServer(given: string | undefined): Promise<Client> {
  const url = given ?? readConfig().serverUrl;
  if (url !== null && url !== undefined) return createClient(checkedUrl(url));
  const devs = await devsFrom(process.cwd());
  for (const dev of devs) {
    if (await answers(dev)) return createClient(dev.url ?? "");
  }
  if (devs.some(({ url: address }) => address === null)) {
    throw new NoServerError("Signalbox is starting here and does not answer yet. Try again in a moment.");
  }
  throw new NoServerError("No Signalbox is running here. Start one: npx signalbox dev");
}

/** Those of the nearest folder that has any; what a killed one left behind does not count. */
async function devsFrom(folder: string): Promise<readonly RegisteredDev[]> {
  const here = (await readDevs(join(folder, ".signalbox"))).filter(isAlive);
  const parent = dirname(folder);
  return here.length > 0 || parent === folder ? here : devsFrom(parent);
}

function checkedUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw new UsageError(`"${text}" is not the address of a server; give one such as http://127.0.0.1:7410`);
}
