import type { Command } from "commander";
import { acts, type Tools } from "../action.ts";
import type { MigrateOptions, MigratePlanOptions } from "../commands/migrate.ts";
import type { ServeOptions } from "../commands/serve.ts";
import { wholeNumber } from "../shared-options.ts";

export function declareServe(command: Command, tools: Tools): void {
  command
    .description("run an instance and the API on a database of yours, in production; needs SIGNALBOX_TOKEN")
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .option("--port <port>", "the port to listen on (default: 7410)")
    .option(
      "--database-url <url>",
      "the PostgreSQL to work on (default: SIGNALBOX_DATABASE_URL, DATABASE_URL)",
    )
    .option(
      "--tasks <module>",
      "what this instance can run: a module whose default export is a list of tasks",
    )
    .option("--slots <n>", "how many tasks to run at once (default: 10)", wholeNumber(1, 10_000))
    .option("--migrate", "bring the schema up to date first")
    .option("--drain <length>", "how long to wait for what runs, after a signal (default: 30s)")
    .option("--base-path <path>", "what stands before every address, such as /signalbox")
    .action(
      acts(tools, async (_, options: ServeOptions, output) => {
        const { serve } = await import("../commands/serve.ts");
        return await serve(options, output);
      }),
    );
}

export function declareMigrate(group: Command, tools: Tools): void {
  group.description("the schema: what it has, what it lacks, bring it up to date");
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .option("--database-url <url>", "the PostgreSQL (default: SIGNALBOX_DATABASE_URL, DATABASE_URL)")
      .option("--json", "print the answer as JSON");
  add("status", "which migrations are applied and which are left").action(
    acts(tools, async (_, options: MigrateOptions, output) => {
      const { migrateStatus } = await import("../commands/migrate.ts");
      await migrateStatus(options, output);
    }),
  );
  add("plan", "what up would apply; changes nothing")
    .option("--sql", "print the SQL, not only the names")
    .action(
      acts(tools, async (_, options: MigratePlanOptions, output) => {
        const { migratePlan } = await import("../commands/migrate.ts");
        await migratePlan(options, output);
      }),
    );
  add("up", "apply what is left; safe to run in several places at once").action(
    acts(tools, async (_, options: MigrateOptions, output) => {
      const { migrateUp } = await import("../commands/migrate.ts");
      await migrateUp(options, output);
    }),
  );
}
