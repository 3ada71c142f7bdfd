import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type { InstancesOptions } from "../commands/cluster.ts";
import type { AskOptions, ChangeOptions } from "../shared-options.ts";
import { withAsking, withList, withReason, withWatch } from "../shared-options.ts";

export function declareCluster(group: Command, tools: Tools): void {
  group.description("instances: which are live, and what each of them has");
  withList(withWatch(group.command("status")), 10_000, 1_000)
    .description("whether the cluster does its work, and its instances")
    .action(
      acts(tools, async (_, options: InstancesOptions, output) => {
        const { clusterStatus } = await import("../commands/cluster.ts");
        return await clusterStatus(options, output);
      }),
    );
  withList(withWatch(group.command("instances")), 10_000, 1_000)
    .description("instances by name; one that left or was lost for ten minutes more")
    .action(
      acts(tools, async (_, options: InstancesOptions, output) => {
        const { clusterInstances } = await import("../commands/cluster.ts");
        return await clusterInstances(options, output);
      }),
    );
  withAsking(group.command("show"))
    .description("one instance and what it runs")
    .argument("<instance>", "its name, or the beginning of its id")
    .action(
      acts(tools, async ([instance = ""], options: AskOptions, output) => {
        const { clusterShow } = await import("../commands/cluster.ts");
        return await clusterShow(instance, options, output);
      }),
    );
  withAsking(withReason(group.command("drain")))
    .description("ask an instance to claim nothing more; what it runs goes on")
    .argument("<instance>", "its name, or the beginning of its id")
    .option("--undo", "let it claim again")
    .action(
      acts(tools, async ([instance = ""], options: AskOptions & ChangeOptions & { undo?: true }, output) => {
        const { clusterDrain } = await import("../commands/cluster.ts");
        return await clusterDrain(instance, options, output);
      }),
    );
}
