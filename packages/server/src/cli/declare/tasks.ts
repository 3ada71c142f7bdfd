/** `enqueue`, `cancel` and `retry`, which are also there as `task cancel` and `task retry`; `task list`, `show` and `defer`. */

import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type { CancelOptions } from "../commands/cancel.ts";
import type { DeferOptions } from "../commands/defer.ts";
import type { EnqueueOptions } from "../commands/enqueue.ts";
import type { RetryOptions } from "../commands/retry.ts";
import type { TaskListOptions, TaskShowOptions } from "../commands/task.ts";
import { since } from "../length-argument.ts";
import {
  collect,
  names,
  wholeNumber,
  withAsking,
  withDryRun,
  withList,
  withReason,
  withWatch,
} from "../shared-options.ts";
import { withFilter } from "./operations.ts";

const ID = "a task or task run: its id, the beginning of it, or the address of its page";

export function declareEnqueue(command: Command, tools: Tools): void {
  withAsking(withWatch(command))
    .description("put a task in the line")
    .argument("<kind>", "which executor runs it")
    .option("--input <json>", "its input, as JSON")
    .option("--title <text>", "what people see in lists (default: the kind)")
    .option("--resource <name[:shared]>", "what it holds, alone unless :shared; can be repeated", collect, [])
    .option("--version <version>", "dotted integers; smaller versions on its resources go first")
    .option("--out-of-order", "it may start although a larger version is done on its resources")
    .option(
      "--run-at <instant>",
      "not before: an instant such as 2026-11-16T12:00:00Z, or +30s, +5m, +2h, +1d from now",
    )
    .option("--priority <n>", "0 is the most urgent, 9 the least (default: 5)", wholeNumber(0, 9))
    .option("--queue <name>", "with whom it shares a limit, pauses and windows (default: default)")
    .option("--tag <name>", "what lists can be filtered by; can be repeated", collect, [])
    .option(
      "--concurrency-key <key>",
      "tasks with the same key run one at a time, unless the key has a limit",
    )
    .option("--rate <name>", "the rate that its start counts against")
    .option(
      "--idempotency-key <key>",
      "makes it safe to repeat: the same key enqueues once. With --run-at give an instant: +1h is another one each time, " +
        "and another request is refused",
    )
    .option("--attempts <n>", "attempts in all, the first included (default: 1)", wholeNumber(1, 100))
    .option("--dry-run", "print the task that would be sent, and send nothing")
    .action(
      acts(tools, async ([kind = ""], options: EnqueueOptions, output) => {
        const { enqueue } = await import("../commands/enqueue.ts");
        return await enqueue(kind, options, output);
      }),
    );
}

export function declareCancel(command: Command, tools: Tools): void {
  withAsking(withFilter(withReason(command)))
    .description("cancel a task, or ask it to stop where it runs; with a filter, all that it fits")
    .argument("[id]", ID)
    .option("--run <id>", "all that is open of this run")
    .action(
      acts(tools, async ([id], options: CancelOptions, output) => {
        const { cancel } = await import("../commands/cancel.ts");
        return await cancel(id, options, output);
      }),
    );
}

export function declareRetry(command: Command, tools: Tools): void {
  withAsking(withFilter(withDryRun(withWatch(command))))
    .description("try a task again that failed or was canceled; with a filter, all that it fits")
    .argument("[id]", ID)
    .option("--run <id>", "all that failed of this run")
    .option("--reason <text>", "with a filter: why, for those who wonder later")
    .action(
      acts(tools, async ([id], options: RetryOptions, output) => {
        const { retry } = await import("../commands/retry.ts");
        return await retry(id, options, output);
      }),
    );
}

export function declareTask(group: Command, tools: Tools): void {
  group.description("task runs: what there is, and one in full");
  declareTaskList(group.command("list"), tools);
  withAsking(withWatch(group.command("show")))
    .description("one task run in full, with the other attempts of its task")
    .argument("<id>", ID)
    .action(
      acts(tools, async ([id = ""], options: TaskShowOptions, output) => {
        const { taskShow } = await import("../commands/task.ts");
        return await taskShow(id, options, output);
      }),
    );
  declareCancel(group.command("cancel"), tools);
  declareRetry(group.command("retry"), tools);
  withAsking(withReason(group.command("defer")))
    .description("give a task run that has not started another run time")
    .argument("<id>", ID)
    .requiredOption(
      "--until <when>",
      "an instant such as 2026-11-16T12:00:00Z, or +30s, +5m, +2h, +1d from now",
    )
    .action(
      acts(tools, async ([id = ""], options: DeferOptions, output) => {
        const { taskDefer } = await import("../commands/defer.ts");
        return await taskDefer(id, options, output);
      }),
    );
}

function declareTaskList(command: Command, tools: Tools): void {
  withList(withWatch(command), 10_000, 50)
    .description("task runs, newest first")
    .option("--status <names>", "only in these: pending, available, running, done, failed, canceled", names)
    .option("--kind <kind>", "only of this kind")
    .option("--queue <name>", "only of this queue")
    .option("--tag <name>", "only with this tag")
    .option("--run <id>", "only of this run")
    .option("--since <when>", "only enqueued since an instant, or a length ago such as 1h", since)
    .action(
      acts(tools, async (_, options: TaskListOptions, output) => {
        const { taskList } = await import("../commands/task.ts");
        return await taskList(options, output);
      }),
    );
}
