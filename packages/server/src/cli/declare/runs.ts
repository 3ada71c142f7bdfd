import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type { PauseOptions } from "../commands/pause.ts";
import type { RunChangeOptions } from "../commands/run-changes.ts";
import type { RunListOptions, RunShowOptions } from "../commands/runs.ts";
import { lengthMs } from "../length-argument.ts";
import { names, withAsking, withDryRun, withList, withReason, withWatch } from "../shared-options.ts";

const ID = "a run: its id, the beginning of it, or the address of its page";

export function declareRuns(group: Command, tools: Tools): void {
  group.description("runs: tasks that were enqueued together");
  declareLooks(group, tools);
  declareChanges(group, tools);
}

function declareLooks(group: Command, tools: Tools): void {
  withList(withWatch(group.command("list")), 500, 50)
    .description("runs, newest first")
    .option("--status <names>", "only in these: running, done, failed, canceled", names)
    .action(
      acts(tools, async (_, options: RunListOptions, output) => {
        const { runList } = await import("../commands/runs.ts");
        return await runList(options, output);
      }),
    );
  withAsking(withWatch(group.command("show")))
    .description("one run, with its tasks that are open or failed")
    .argument("<id>", ID)
    .action(
      acts(tools, async ([id = ""], options: RunShowOptions, output) => {
        const { runShow } = await import("../commands/runs.ts");
        return await runShow(id, options, output);
      }),
    );
  withAsking(group.command("watch"))
    .description("one run until it ends; the exit code says how")
    .argument("<id>", ID)
    .option("--interval <length>", "how often to look (default: 1s)", lengthMs)
    .action(
      acts(tools, async ([id = ""], options: RunShowOptions, output) => {
        const { runShow } = await import("../commands/runs.ts");
        return await runShow(id, { ...options, watch: true }, output);
      }),
    );
}

function declareChanges(group: Command, tools: Tools): void {
  withAsking(withReason(group.command("cancel")))
    .description("cancel what is open of a run")
    .argument("<id>", ID)
    .action(
      acts(tools, async ([id = ""], options: RunChangeOptions, output) => {
        const { cancelRun } = await import("../commands/run-changes.ts");
        return await cancelRun(id, options, output);
      }),
    );
  withAsking(withDryRun(group.command("retry")))
    .description("try what failed of a run again")
    .argument("<id>", ID)
    .action(
      acts(tools, async ([id = ""], options: RunChangeOptions, output) => {
        const { retryRun } = await import("../commands/run-changes.ts");
        return await retryRun(id, options, output);
      }),
    );
  for (const act of ["pause", "resume"] as const) {
    withAsking(withReason(group.command(act)))
      .description(
        act === "pause" ? "start nothing more of a run; what runs goes on" : "let a run start again",
      )
      .argument("<id>", ID)
      .action(
        acts(tools, async ([id = ""], options: PauseOptions, output) => {
          const commands = await import("../commands/pause.ts");
          return await commands[act]({ over: "run", name: id }, options, output);
        }),
      );
  }
}
