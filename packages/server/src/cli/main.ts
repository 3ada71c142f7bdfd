/** The entry of the command line. */

import { runCommandLine } from "./run-command-line.ts";

process.exitCode = await runCommandLine(process.argv.slice(2));
