/**
 * Which server a command talks to: the one it was given, else the context, else the one that runs in this folder.
 *
 * A token goes only where it was meant for. That of a context goes to the server of that context, and the dev
 * server of a folder gets none: whoever made the folder could have named any address there.
 */

import { dirname, join } from "node:path";
import { type Client, createClient } from "@signalbox/contract";
import { readClientConfig, readConfig } from "../config.ts";
import { answers, isAlive, type RegisteredDev, readDevs } from "../dev/registry.ts";
import { UsageError } from "../usage-error.ts";
import { checkedToken, readToken } from "./read-token.ts";
import type { ServerOptions } from "./shared-options.ts";
import { contextCalled, readUserConfig } from "./user-config.ts";

export class NoServerError extends Error {
  override readonly name = "NoServerError";
}

export interface Place {
  readonly url: string;
  readonly tokenFile: string | null;
  /** Whether SIGNALBOX_TOKEN may be sent there. */
  readonly trusted: boolean;
  /** For people: who said so. */
  readonly origin: string;
}

export interface FoundServer {
  readonly url: string;
  readonly token: string | null;
  readonly origin: string;
}

/** What goes on for a while: its time is not that of one answer. */
interface Lasting {
  readonly watch?: true;
  readonly follow?: true;
}

export async function findServer(options: ServerOptions & Lasting): Promise<Client> {
  const { url, token } = await findAddress(options);
  const { timeout, watch, follow } = options;
  return createClient(url, {
    ...(timeout === undefined || watch === true || follow === true ? {} : { timeoutMs: timeout }),
    ...(token === null ? {} : { token }),
  });
}

export async function findAddress(options: ServerOptions): Promise<FoundServer> {
  const place = (await namedPlace(options)) ?? (await devPlace());
  if (options.verbose === true) console.error(`Asking ${place.url} (${place.origin})`);
  return { url: place.url, token: await tokenFor(place, options), origin: place.origin };
}

/** The flag is nearer than the environment, the environment nearer than a context. */
async function tokenFor({ tokenFile, trusted }: Place, options: ServerOptions): Promise<string | null> {
  if (options.tokenFile !== undefined) return await readToken(options.tokenFile);
  if (!trusted) return null;
  const given = readConfig();
  if (given.token !== null) return checkedToken(given.token, "SIGNALBOX_TOKEN");
  const file = given.tokenFile ?? tokenFile;
  return file === null ? null : await readToken(file);
}

/** Null: nobody named one. */
export async function namedPlace({ server, context }: ServerOptions): Promise<Place | null> {
  if (server !== undefined && context !== undefined) {
    throw new UsageError("Give --server or --context, not both");
  }
  if (server !== undefined) return atAddress(server, "--server");
  if (context !== undefined) return await contextPlace(context, "--context");
  const fromEnvironment = readConfig().serverUrl;
  if (fromEnvironment !== null) return atAddress(fromEnvironment, "SIGNALBOX_SERVER_URL");
  const named = readClientConfig().context;
  if (named !== null) return await contextPlace(named, "SIGNALBOX_CONTEXT");
  const current = (await readUserConfig()).context;
  return current === undefined ? null : await contextPlace(current, "the current context");
}

function atAddress(text: string, origin: string): Place {
  return { url: checkedUrl(text, origin), tokenFile: null, trusted: true, origin };
}

async function contextPlace(name: string, origin: string): Promise<Place> {
  const { server, tokenFile } = contextCalled(await readUserConfig(), name);
  return {
    url: checkedUrl(server, `The server of context ${name}`),
    tokenFile: tokenFile ?? null,
    trusted: true,
    origin: `${origin}, ${name}`,
  };
}

async function devPlace(): Promise<Place> {
  const devs = await devsFrom(process.cwd());
  for (const dev of devs) {
    if (await answers(dev))
      return { url: dev.url ?? "", tokenFile: null, trusted: false, origin: "runs in this folder" };
  }
  if (devs.some(({ url: address }) => address === null)) {
    throw new NoServerError("Signalbox is starting here and does not answer yet. Try again in a moment.");
  }
  throw new NoServerError(
    "No Signalbox is running here. Start one: npx signalbox dev. Or name one: --server <url>",
  );
}

/** Those of the nearest folder that has any; what a killed one left behind does not count. */
async function devsFrom(folder: string): Promise<readonly RegisteredDev[]> {
  const here = (await readDevs(join(folder, ".signalbox"))).filter(isAlive);
  const parent = dirname(folder);
  return here.length > 0 || parent === folder ? here : devsFrom(parent);
}

export function checkedUrl(text: string, origin: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") {
    // With what stands before every address there, and without what a copied one has behind it.
    return `${url.origin}${url.pathname.replace(/(?:\/api\/v1)?\/*$/, "")}`;
  }
  // Not repeated where it may have a password in it.
  const said = text.includes("@") ? "" : ` ("${text}")`;
  throw new UsageError(
    `${origin} is not the address of a server${said}; give one such as http://127.0.0.1:7410`,
  );
}
