import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type { DevOptions } from "../commands/dev.ts";
import { wholeNumber } from "../shared-options.ts";

export function declareDev(command: Command, tools: Tools): void {
  command
    .description("run Signalbox here: a private PostgreSQL, three instances, the API and a demo")
    .option("--once", "run the demo to its end, print a table and leave")
    .option("--no-demo", "start without the demo")
    .option("--instances <n>", "how many instances to start", wholeNumber(0, 26))
    .option("--port <port>", "first port to try for the API (default: 7410)")
    .option("--database-url <url>", "a PostgreSQL of your own, in place of the private one")
    .option("--reset", "throw the private PostgreSQL and its data away, then leave")
    .option("--no-color", "no colour")
    .action(
      acts(tools, async (_, options: DevOptions, output) => {
        const { dev } = await import("../commands/dev.ts");
        return await dev(options, output);
      }),
    );
}
