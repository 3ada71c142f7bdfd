/** What can be changed while work goes on: queues, resources, windows, limits, stops. */

import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type { LimitOptions } from "../commands/limit.ts";
import type { PauseOptions } from "../commands/pause.ts";
import type { QueueListOptions, QueueSetOptions } from "../commands/queue.ts";
import type { ResourceListOptions } from "../commands/resource.ts";
import type { StopOptions } from "../commands/stop.ts";
import type { WhereOptions, WindowSetOptions } from "../commands/window.ts";
import { lengthMs } from "../length-argument.ts";
import { name } from "../name-argument.ts";
import {
  type AskOptions,
  type ChangeOptions,
  type ListOptions,
  wholeNumber,
  withAsking,
  withDryRun,
  withList,
  withReason,
  withWatch,
} from "../shared-options.ts";

export function declareQueue(group: Command, tools: Tools): void {
  group.description("queues: what waits there, their limits, weights and pauses");
  withList(withWatch(group.command("list")), 10_000, 1_000)
    .description("every queue that has rules or open work")
    .action(
      acts(tools, async (_, options: QueueListOptions, output) => {
        const { queueList } = await import("../commands/queue.ts");
        return await queueList(options, output);
      }),
    );
  withAsking(group.command("show"))
    .description("one queue")
    .argument("<name>", "its name", name)
    .action(
      acts(tools, async ([queue = ""], options: AskOptions, output) => {
        const { queueShow } = await import("../commands/queue.ts");
        return await queueShow(queue, options, output);
      }),
    );
  withAsking(group.command("set"))
    .description("change the limit or the weight of a queue")
    .argument("<name>", "its name", name)
    .option(
      "--limit <n>",
      "how many may be available or running at once; 0: no limit",
      wholeNumber(0, 1_000_000),
    )
    .option("--weight <n>", "how often its turn comes compared with other queues", wholeNumber(1, 1_000))
    .option("--dry-run", "say what would be done, and do nothing")
    .action(
      acts(tools, async ([queue = ""], options: QueueSetOptions, output) => {
        const { queueSet } = await import("../commands/queue.ts");
        return await queueSet(queue, options, output);
      }),
    );
  declarePauses(group, "queue", tools);
}

function declarePauses(group: Command, over: "queue" | "resource", tools: Tools): void {
  for (const act of ["pause", "resume"] as const) {
    withAsking(withReason(group.command(act)))
      .description(
        act === "pause" ? `start nothing more of a ${over}; what runs goes on` : `let a ${over} start again`,
      )
      .argument("<name>", "its name", name)
      .action(
        acts(tools, async ([given = ""], options: PauseOptions, output) => {
          const commands = await import("../commands/pause.ts");
          return await commands[act]({ over, name: given }, options, output);
        }),
      );
  }
}

export function declareResource(group: Command, tools: Tools): void {
  group.description("resources: who holds them and who is in line");
  withList(withWatch(group.command("list")), 500, 100)
    .description("resources that are held, waited for or ruled, by name")
    .option("--search <text>", "how the name begins")
    .action(
      acts(tools, async (_, options: ResourceListOptions, output) => {
        const { resourceList } = await import("../commands/resource.ts");
        return await resourceList(options, output);
      }),
    );
  withAsking(group.command("show"))
    .description("one resource: its holders and its line")
    .argument("<name>", "its name", name)
    .action(
      acts(tools, async ([resource = ""], options: AskOptions, output) => {
        const { resourceShow } = await import("../commands/resource.ts");
        return await resourceShow(resource, options, output);
      }),
    );
  declarePauses(group, "resource", tools);
  withAsking(withReason(group.command("release")))
    .description(
      "free a resource that is kept since an instance was lost; only when nothing of that attempt is at work",
    )
    .argument("<name>", "its name", name)
    .action(
      acts(tools, async ([resource = ""], options: AskOptions & ChangeOptions, output) => {
        const { resourceRelease } = await import("../commands/resource.ts");
        return await resourceRelease(resource, options, output);
      }),
    );
}

export function declareWindow(group: Command, tools: Tools): void {
  group.description("windows: when work may start on a queue or a resource");
  withList(group.command("list"), 10_000, 1_000)
    .description("all windows, and whether they are open now")
    .action(
      acts(tools, async (_, options: AskOptions & ListOptions, output) => {
        const { windowList } = await import("../commands/window.ts");
        return await windowList(options, output);
      }),
    );
  withAsking(withDryRun(withWhere(group.command("set"))))
    .description(
      "work may start only inside of this window, or with --freeze only outside; it replaces those before",
    )
    .option("--freeze", "work may not start inside")
    .option("--opens <cron>", 'when it begins, again and again: "0 2 * * 1-5"')
    .option("--lasts <length>", "how long it is open after that, such as 3h", lengthMs)
    .option("--zone <name>", "the time zone of --opens (default: UTC)")
    .option("--from <instant>", "once: when it begins")
    .option("--until <instant>", "once: when it ends")
    .option("--add", "keep those that are there already")
    .action(
      acts(tools, async (_, options: WindowSetOptions, output) => {
        const { windowSet } = await import("../commands/window.ts");
        return await windowSet(options, output);
      }),
    );
  withAsking(withDryRun(withWhere(group.command("clear"))))
    .description("take all windows off a queue or a resource")
    .action(
      acts(tools, async (_, options: AskOptions & ChangeOptions & WhereOptions, output) => {
        const { windowClear } = await import("../commands/window.ts");
        return await windowClear(options, output);
      }),
    );
}

function withWhere(command: Command): Command {
  return command
    .option("--queue <name>", "of this queue", name)
    .option("--resource <name>", "of this resource", name);
}

export function declareLimit(group: Command, tools: Tools): void {
  group.description("limits of concurrency keys, rates, queues and runs");
  withList(group.command("list"), 10_000, 1_000)
    .description("all limits but those of runs")
    .action(
      acts(tools, async (_, options: AskOptions & ListOptions, output) => {
        const { limitList } = await import("../commands/limit.ts");
        return await limitList(options, output);
      }),
    );
  withAsking(group.command("set"))
    .description("set a limit; whoever is above it already stays")
    .argument("<over>", "key, rate, queue or run")
    .argument("<name>", 'its name, or the id of a run; "customer:*" is every key that begins so', name)
    .argument("<limit>", "how many at once; of a rate how many in a period: 100/1m")
    .option("--dry-run", "say what would be done, and do nothing")
    .action(
      acts(tools, async ([over = "", limited = "", limit = ""], options: LimitOptions, output) => {
        const { limitSet } = await import("../commands/limit.ts");
        return await limitSet({ over, name: limited, limit }, options, output);
      }),
    );
}

export function declareStop(group: Command, tools: Tools): void {
  group.description("stops: what keeps one task from starting");
  withList(group.command("list"), 10_000, 1_000)
    .description("all tasks that are stopped")
    .action(
      acts(tools, async (_, options: AskOptions & ListOptions, output) => {
        const { stopList } = await import("../commands/stop.ts");
        return await stopList(options, output);
      }),
    );
  withAsking(group.command("put"))
    .description("keep a task from starting until this code is taken off")
    .argument("<id>", "a task or one of its task runs")
    .argument("<code>", "by which it is taken off again", name)
    .option("--detail <text>", "for those who wonder why it waits")
    .option("--dry-run", "say what would be done, and do nothing")
    .action(
      acts(tools, async ([id = "", code = ""], options: StopOptions, output) => {
        const { stopPut } = await import("../commands/stop.ts");
        return await stopPut({ id, code }, options, output);
      }),
    );
  withAsking(group.command("take-off"))
    .description("let it start as far as this code is concerned")
    .argument("<id>", "a task or one of its task runs")
    .argument("<code>", "with which it was put", name)
    .option("--dry-run", "say what would be done, and do nothing")
    .action(
      acts(tools, async ([id = "", code = ""], options: StopOptions, output) => {
        const { stopTakeOff } = await import("../commands/stop.ts");
        return await stopTakeOff({ id, code }, options, output);
      }),
    );
}
