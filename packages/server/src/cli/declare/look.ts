/** What people type in an incident: `status`, `why`, `logs`, `top`, `open`, `doctor`. */

import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type { LogsOptions } from "../commands/logs.ts";
import type { OpenOptions } from "../commands/open.ts";
import type { StatusOptions } from "../commands/status.ts";
import type { TopOptions } from "../commands/top.ts";
import type { WhyOptions } from "../commands/why.ts";
import { lengthMs, since } from "../length-argument.ts";
import { type AskOptions, names, wholeNumber, withAsking, withWatch } from "../shared-options.ts";

const ID = "a task or task run: its id, the beginning of it, or the address of its page";

export function declareStatus(command: Command, tools: Tools): void {
  withAsking(withWatch(command))
    .description("instances, what waits and for what, what runs")
    .action(
      acts(tools, async (_, options: StatusOptions, output) => {
        const { status } = await import("../commands/status.ts");
        return await status(options, output);
      }),
    );
}

export function declareWhy(command: Command, tools: Tools): void {
  withAsking(withWatch(command))
    .description("why a task is not running: every gate, passed or blocking")
    .argument("[id]", `${ID}; without it: all that waits`)
    .option("--limit <n>", "how many of those that wait to show", wholeNumber(1, 500), 20)
    .action(
      acts(tools, async ([id], options: WhyOptions, output) => {
        const { why } = await import("../commands/why.ts");
        return await why(id, options, output);
      }),
    );
}

export function declareLogs(command: Command, tools: Tools): void {
  withAsking(command)
    .description("what a task run has printed")
    .argument("<id>", ID)
    .option("-f, --follow", "go on as it grows, until it ends; Ctrl-C leaves the work alone")
    .option("--search <text>", "only the lines of the whole log that have this text, whatever its case")
    .option("--since <when>", "only what is newer: an instant, or a length ago such as 10m", since)
    .option("--stream <names>", "only these of stdout, stderr, task, system", names)
    .option("--timestamps", "when each line was stored")
    .option("--limit <n>", "how many lines to find with --search", wholeNumber(1, 1_000), 1_000)
    .action(
      acts(tools, async ([id = ""], options: LogsOptions, output) => {
        const { logs } = await import("../commands/logs.ts");
        return await logs(id, options, output);
      }),
    );
}

export function declareTop(command: Command, tools: Tools): void {
  withAsking(command)
    .description("the whole cluster as it moves, until Ctrl-C")
    .option(
      "--interval <length>",
      "how often to look where the server tells nothing by itself (default: 1s)",
      lengthMs,
    )
    .action(
      acts(tools, async (_, options: TopOptions, output) => {
        const { top } = await import("../commands/top.ts");
        return await top(options, output);
      }),
    );
}

export function declareOpen(command: Command, tools: Tools): void {
  withAsking(command)
    .description("print the address of the dashboard, and open it where there is a screen")
    .argument("[id]", "a task, a task run or a run; without it: the first page")
    .option("--no-browser", "only print the address")
    .action(
      acts(tools, async ([id], options: OpenOptions, output) => {
        const { open } = await import("../commands/open.ts");
        return await open(id, options, output);
      }),
    );
}

export function declareDoctor(command: Command, tools: Tools): void {
  withAsking(command)
    .description("look whether this machine, the server and a named database are well")
    .action(
      acts(tools, async (_, options: AskOptions, output) => {
        const { doctor } = await import("../commands/doctor.ts");
        return await doctor(options, output);
      }),
    );
}
