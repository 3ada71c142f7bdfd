/** What can be typed. Each command is loaded when it is asked for, so that none pays for the others. */

import { Command, InvalidArgumentError } from "commander";
import { VERSION } from "../version.ts";
import type { CancelOptions } from "./commands/cancel.ts";
import type { DevOptions } from "./commands/dev.ts";
import type { EnqueueOptions } from "./commands/enqueue.ts";
import type { MigrateOptions, MigratePlanOptions } from "./commands/migrate.ts";
import type { RetryOptions } from "./commands/retry.ts";
import type { ServeOptions } from "./commands/serve.ts";
import type { StatusOptions } from "./commands/status.ts";
import type { WhyOptions } from "./commands/why.ts";
import type { Output } from "./output.ts";

/** With `quiet`, usage errors are only thrown, not written. */
export function createProgram(output: Output, quiet: boolean, onExit: (exitCode: number) => void): Command {
  const program = new Command("signalbox")
    .description("A highly available task scheduler on PostgreSQL.")
    .version(VERSION)
    // `enqueue --version` is the version of a task, not of the program.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.data(text.trimEnd()),
      writeErr: (text) => void (quiet || output.note(text.trimEnd())),
    });
  addDev(program, output, onExit);
  addServe(program, output, onExit);
  addMigrate(program, output);
  addStatus(program, output);
  addWhy(program, output);
  addEnqueue(program, output);
  addCancel(program, output, onExit);
  addRetry(program, output);
  return program;
}

function addDev(program: Command, output: Output, onExit: (exitCode: number) => void): void {
  program
    .command("dev")
    .description("run Signalbox here: a private PostgreSQL, three instances, the API and a demo")
    .option("--once", "run the demo to its end, print a table and leave")
    .option("--no-demo", "start without the demo")
    .option("--instances <n>", "how many instances to start", wholeNumber(0, 26))
    .option("--port <port>", "first port to try for the API (default: 7410)")
    .option("--database-url <url>", "a PostgreSQL of your own, in place of the private one")
    .option("--reset", "throw the private PostgreSQL and its data away, then leave")
    .option("--no-color", "no colour")
    .action(async (options: DevOptions) => {
      const { dev } = await import("./commands/dev.ts");
      onExit(await dev(options, output));
    });
}

function addServe(program: Command, output: Output, onExit: (exitCode: number) => void): void {
  program
    .command("serve")
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
    .action(async (options: ServeOptions) => {
      const { serve } = await import("./commands/serve.ts");
      onExit(await serve(options, output));
    });
}

function addMigrate(program: Command, output: Output): void {
  const migrate = program
    .command("migrate")
    .description("the schema: what it has, what it lacks, bring it up to date");
  const add = (name: string, description: string): Command =>
    migrate
      .command(name)
      .description(description)
      .option("--database-url <url>", "the PostgreSQL (default: SIGNALBOX_DATABASE_URL, DATABASE_URL)")
      .option("--json", "print the answer as JSON");
  add("status", "which migrations are applied and which are left").action(async (options: MigrateOptions) => {
    const { migrateStatus } = await import("./commands/migrate.ts");
    await migrateStatus(options, output);
  });
  add("plan", "what up would apply; changes nothing")
    .option("--sql", "print the SQL, not only the names")
    .action(async (options: MigratePlanOptions) => {
      const { migratePlan } = await import("./commands/migrate.ts");
      await migratePlan(options, output);
    });
  add("up", "apply what is left; safe to run in several places at once").action(
    async (options: MigrateOptions) => {
      const { migrateUp } = await import("./commands/migrate.ts");
      await migrateUp(options, output);
    },
  );
}

function addStatus(program: Command, output: Output): void {
  withServer(program.command("status"))
    .description("instances, what waits and for what, what runs")
    .action(async (options: StatusOptions) => {
      const { status } = await import("./commands/status.ts");
      await status(options, output);
    });
}

function addWhy(program: Command, output: Output): void {
  withServer(program.command("why"))
    .description("why a task is not running: every gate, passed or blocking")
    .argument("[id]", "a task or task run, or the beginning of its id; without it: all that waits")
    .option("--limit <n>", "how many of those that wait to show", wholeNumber(1, 500), 20)
    .action(async (id: string | undefined, options: WhyOptions) => {
      const { why } = await import("./commands/why.ts");
      await why(id, options, output);
    });
}

function addEnqueue(program: Command, output: Output): void {
  withServer(program.command("enqueue"))
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
    .action(async (kind: string, options: EnqueueOptions) => {
      const { enqueue } = await import("./commands/enqueue.ts");
      await enqueue(kind, options, output);
    });
}

function addCancel(program: Command, output: Output, onExit: (exitCode: number) => void): void {
  withServer(program.command("cancel"))
    .description("cancel a task, or ask it to stop where it runs")
    .argument("[id]", "a task or task run, or the beginning of its id")
    .option("--run <id>", "all that is open of this run")
    .option("--reason <text>", "why, for those who wonder later")
    .action(async (id: string | undefined, options: CancelOptions) => {
      const { cancel } = await import("./commands/cancel.ts");
      onExit(await cancel(id, options, output));
    });
}

function addRetry(program: Command, output: Output): void {
  withServer(program.command("retry"))
    .description("try a task again that failed or was canceled")
    .argument("[id]", "a task or task run, or the beginning of its id")
    .option("--run <id>", "all that failed of this run")
    .action(async (id: string | undefined, options: RetryOptions) => {
      const { retry } = await import("./commands/retry.ts");
      await retry(id, options, output);
    });
}

/** What every command that asks a server understands. */
function withServer(command: Command): Command {
  return command
    .option("--server <url>", "the server to ask (default: the one that runs in this folder)")
    .option("--json", "print the answer as JSON")
    .option("--no-color", "no colour");
}

function wholeNumber(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= low && value <= high) return value;
    throw new InvalidArgumentError(`Give a whole number from ${low} to ${high}.`);
  };
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
