/** The entry of the command line. */

import { VERSION } from "../version.ts";

const args = process.argv.slice(2);

// What scripts ask most often needs nothing of all the commands.
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runCommandLine } = await import("./run-command-line.ts");
  process.exitCode = await runCommandLine(args);
}
