/** What concerns the command line itself: `config`, `context`, `completion`, `api`, `version`. */

import { Argument, type Command, Option } from "commander";
import { acts, type Tools } from "../action.ts";
import type { ApiOptions } from "../commands/api.ts";
import type { CompletionOptions } from "../commands/completion.ts";
import type { ConfigListOptions } from "../commands/config.ts";
import type { ContextAddOptions } from "../commands/context.ts";
import { SHELLS } from "../completion/scripts.ts";
import { type AskOptions, type ListOptions, withAsking, withFormat, withLook } from "../shared-options.ts";

export function declareConfig(group: Command, tools: Tools): void {
  group.description("what is set, where, and by whom");
  withLook(group.command("get"))
    .description("one setting")
    .argument("<key>", "context, output, color or tz")
    .action(
      acts(tools, async ([key = ""], _, output) => {
        const { configGet } = await import("../commands/config.ts");
        return await configGet(key, output);
      }),
    );
  withLook(group.command("set"))
    .description("keep a setting; an empty value takes it off")
    .argument("<key>", "context, output, color or tz")
    .argument("<value>", "what it is to be")
    .action(
      acts(tools, async ([key = "", value = ""], _, output) => {
        const { configSet } = await import("../commands/config.ts");
        return await configSet({ key, value }, output);
      }),
    );
  withLook(withFormat(group.command("list")))
    .description("all settings that count here and now")
    .option("--show-origin", "who says so: a flag, the environment or a file")
    .action(
      acts(tools, async (_, options: ConfigListOptions, output) => {
        const { configList } = await import("../commands/config.ts");
        return await configList(options, output);
      }),
    );
  withLook(group.command("path"))
    .description("where settings are kept")
    .action(
      acts(tools, async (_, __, output) => {
        const { configPath } = await import("../commands/config.ts");
        configPath(output);
      }),
    );
}

export function declareContext(group: Command, tools: Tools): void {
  group.description("servers by name");
  withLook(withFormat(group.command("list")))
    .description("all contexts; a star is at the current one")
    .action(
      acts(tools, async (_, options: ListOptions, output) => {
        const { contextList } = await import("../commands/context.ts");
        return await contextList(options, output);
      }),
    );
  withLook(group.command("use"))
    .description("ask this server from now on")
    .argument("<name>", "the context")
    .action(
      acts(tools, async ([context = ""], _, output) => {
        const { contextUse } = await import("../commands/context.ts");
        return await contextUse(context, output);
      }),
    );
  withLook(group.command("add"))
    .description("give a server a name")
    .argument("<name>", "the context")
    .requiredOption("--server <url>", "its address")
    .option("--token-file <file>", "the file that has its token; the token itself is not kept")
    .action(
      acts(tools, async ([context = ""], options: ContextAddOptions, output) => {
        const { contextAdd } = await import("../commands/context.ts");
        return await contextAdd(context, options, output);
      }),
    );
  withLook(group.command("remove"))
    .description("forget a context")
    .argument("<name>", "the context")
    .action(
      acts(tools, async ([context = ""], _, output) => {
        const { contextRemove } = await import("../commands/context.ts");
        return await contextRemove(context, output);
      }),
    );
}

export function declareCompletion(command: Command, tools: Tools): void {
  command
    .description("print what your shell needs to complete commands, options and ids")
    .addArgument(new Argument("[shell]", "default: that of SHELL").choices([...SHELLS]))
    .option("--install", "write it where the shell looks for it, and say where")
    .action(
      acts(tools, async ([shell], options: CompletionOptions, output) => {
        const { completion } = await import("../commands/completion.ts");
        return await completion(shell, options, output);
      }),
    );
}

/** Asked by a shell, never by people. */
export function declareComplete(command: Command, program: Command, tools: Tools): void {
  command
    .argument("[words...]")
    .allowUnknownOption()
    .action(
      acts(tools, async (args, _, output) => {
        const { complete } = await import("../commands/completion.ts");
        return await complete(program, args.flat().map(String), output);
      }),
    );
}

export function declareApi(command: Command, tools: Tools): void {
  withAsking(command)
    .description("one request of the API as it is typed; prints the answer")
    .argument("<method>", "GET, POST, PUT, PATCH or DELETE")
    .argument("<path>", "such as /api/v1/overview")
    .addOption(new Option("-d, --data <json>", "the body: JSON, @file, or - for stdin"))
    .option("--idempotency-key <key>", "makes a creation safe to repeat")
    .action(
      acts(tools, async ([method = "", path = ""], options: ApiOptions, output) => {
        const { api } = await import("../commands/api.ts");
        return await api({ method, path }, options, output);
      }),
    );
}

export function declareVersion(command: Command, tools: Tools): void {
  withAsking(command)
    .description("the version of this program and of the server")
    .action(
      acts(tools, async (_, options: AskOptions, output) => {
        const { version } = await import("../commands/version.ts");
        return await version(options, output);
      }),
    );
}
