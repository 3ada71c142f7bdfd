/** What can be typed. Each command is loaded when it is asked for, so that none pays for the others. */

import { Command } from "commander";
import { VERSION } from "../version.ts";
import type { Tools } from "./action.ts";
import { declareCluster } from "./declare/cluster.ts";
import { declareDev } from "./declare/dev.ts";
import {
  declareDoctor,
  declareLogs,
  declareOpen,
  declareStatus,
  declareTop,
  declareWhy,
} from "./declare/look.ts";
import { declareOperation } from "./declare/operations.ts";
import { declareLimit, declareQueue, declareResource, declareStop, declareWindow } from "./declare/rules.ts";
import { declareRuns } from "./declare/runs.ts";
import { declareMigrate, declareServe } from "./declare/serve.ts";
import {
  declareApi,
  declareComplete,
  declareCompletion,
  declareConfig,
  declareContext,
  declareVersion,
} from "./declare/settings.ts";
import { declareCancel, declareEnqueue, declareRetry, declareTask } from "./declare/tasks.ts";
import type { Output } from "./output.ts";
import { withLook, withServer } from "./shared-options.ts";

/** With `quiet`, usage errors are only thrown, not written. */
export function createProgram(output: Output, quiet: boolean, onExit: (exitCode: number) => void): Command {
  const tools: Tools = { output, onExit };
  const program = withLook(withServer(new Command("signalbox")))
    .description("A highly available task scheduler on PostgreSQL.")
    .version(VERSION)
    // `enqueue --version` is the version of a task, not of the program.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.data(text.trimEnd()),
      writeErr: (text) => void (quiet || output.note(text.trimEnd())),
    });

  program.commandsGroup("Run it:");
  declareDev(program.command("dev"), tools);
  declareServe(program.command("serve"), tools);
  declareMigrate(program.command("migrate"), tools);
  declareDoctor(program.command("doctor"), tools);

  program.commandsGroup("Look:");
  declareStatus(program.command("status"), tools);
  declareWhy(program.command("why"), tools);
  declareLogs(program.command("logs"), tools);
  declareTop(program.command("top"), tools);
  declareOpen(program.command("open"), tools);

  program.commandsGroup("Work:");
  declareEnqueue(program.command("enqueue"), tools);
  declareCancel(program.command("cancel"), tools);
  declareRetry(program.command("retry"), tools);
  declareTask(program.command("task"), tools);
  declareRuns(program.command("runs"), tools);
  declareOperation(program.command("operation"), tools);

  program.commandsGroup("Rules:");
  declareQueue(program.command("queue"), tools);
  declareResource(program.command("resource"), tools);
  declareWindow(program.command("window"), tools);
  declareLimit(program.command("limit"), tools);
  declareStop(program.command("stop"), tools);

  program.commandsGroup("Cluster:");
  declareCluster(program.command("cluster"), tools);

  program.commandsGroup("Other:");
  declareApi(program.command("api"), tools);
  declareConfig(program.command("config"), tools);
  declareContext(program.command("context"), tools);
  declareCompletion(program.command("completion"), tools);
  declareVersion(program.command("version"), tools);
  declareComplete(program.command("__complete", { hidden: true }), program, tools);
  return program;
}
