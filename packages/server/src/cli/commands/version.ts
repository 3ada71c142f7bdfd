import { VERSION } from "../../version.ts";
import { findServer } from "../find-server.ts";
import type { Output } from "../output.ts";
import { printOne } from "../print.ts";
import type { AskOptions } from "../shared-options.ts";

/** Of this program, and of the server where one answers. */
export async function version(options: AskOptions, output: Output): Promise<void> {
  const server = await serverVersion(options);
  const lines = (): readonly string[] => [
    `signalbox ${VERSION}, Node ${process.version}`,
    server === null ? "no server answers" : `server ${server.version} at ${server.url}`,
  ];
  printOne(
    { version: VERSION, node: process.version, server },
    { name: VERSION, lines },
    { options, output },
  );
}

async function serverVersion(
  options: AskOptions,
): Promise<{ readonly version: string; readonly url: string } | null> {
  try {
    const client = await findServer(options);
    return { version: (await client.health()).version, url: client.baseUrl };
  } catch {
    return null;
  }
}
