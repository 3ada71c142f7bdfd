import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type {
  OperationAbortOptions,
  OperationListOptions,
  OperationShowOptions,
} from "../commands/operation.ts";
import { lengthMs, since } from "../length-argument.ts";
import { names, withAsking, withList, withReason, withWatch } from "../shared-options.ts";

const ID = "an operation: its id, the beginning of it, or the address of its page";

export function declareOperation(group: Command, tools: Tools): void {
  group.description("operations: cancels and retries of many, which instances carry on");
  withList(group.command("list"), 500, 50)
    .description("operations, newest first")
    .option("--status <names>", "only in these: running, done, aborted", names)
    .action(
      acts(tools, async (_, options: OperationListOptions, output) => {
        const { operationList } = await import("../commands/operation.ts");
        return await operationList(options, output);
      }),
    );
  withAsking(withWatch(group.command("show")))
    .description("one operation: how far it is, and what it could not do")
    .argument("<id>", ID)
    .action(
      acts(tools, async ([id = ""], options: OperationShowOptions, output) => {
        const { operationShow } = await import("../commands/operation.ts");
        return await operationShow(id, options, output);
      }),
    );
  withAsking(group.command("watch"))
    .description("one operation until it is over; the exit code says how")
    .argument("<id>", ID)
    .option("--interval <length>", "how often to look (default: 1s)", lengthMs)
    .action(
      acts(tools, async ([id = ""], options: OperationShowOptions, output) => {
        const { operationShow } = await import("../commands/operation.ts");
        return await operationShow(id, { ...options, watch: true }, output);
      }),
    );
  declareAbort(group.command("abort"), tools);
}

function declareAbort(command: Command, tools: Tools): void {
  withAsking(withReason(command))
    .description("let an operation go on no further; what it has done stays")
    .argument("<id>", ID)
    .action(
      acts(tools, async ([id = ""], options: OperationAbortOptions, output) => {
        const { operationAbort } = await import("../commands/operation.ts");
        return await operationAbort(id, options, output);
      }),
    );
}

/** What `cancel` and `retry` of many are about. */
export function withFilter(command: Command): Command {
  return command
    .option("--status <names>", "all in these: pending, available, running, done, failed, canceled", names)
    .option("--kind <kind>", "all of this kind")
    .option("--queue <name>", "all of this queue")
    .option("--tag <name>", "all with this tag")
    .option("--since <when>", "all enqueued since an instant, or a length ago such as 1h", since)
    .option("--detach", "with a filter: begin, and do not wait for the end");
}
