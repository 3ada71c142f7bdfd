import type { Client, LogEntry } from "@signalbox/contract";
import { createLineSplitter, logText } from "../../render/log-text.ts";
import { clockText } from "../../render/time.ts";
import { UsageError } from "../../usage-error.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import { taskRunIdOf } from "../id-argument.ts";
import { type Interrupt, onInterrupt } from "../interrupt.ts";
import type { Output } from "../output.ts";
import { type AskOptions, formatOf, isJson } from "../shared-options.ts";

export interface LogsOptions extends AskOptions {
  readonly follow?: true;
  readonly search?: string;
  readonly since?: Date;
  readonly stream?: readonly string[];
  readonly timestamps?: true;
  readonly limit: number;
}

const PAGE = 1_000;
const LOOK_AGAIN_MS = 500;

export async function logs(id: string, options: LogsOptions, output: Output): Promise<ExitCode> {
  const given = taskRunIdOf(id);
  if (options.follow === true && options.search !== undefined) {
    throw new UsageError("--search looks through what is there; it cannot --follow");
  }
  const client = await findServer(options);
  const { taskRunId } = await client.getTaskRun(given);
  if (options.search !== undefined) return await search(client, taskRunId, { options, output });
  const interrupt = onInterrupt();
  try {
    return await print(client, taskRunId, { options, output, interrupt });
  } finally {
    interrupt.dispose();
  }
}

interface Printing {
  readonly options: LogsOptions;
  readonly output: Output;
  readonly interrupt: Interrupt;
}

async function print(client: Client, taskRunId: string, printing: Printing): Promise<ExitCode> {
  const { options, output, interrupt } = printing;
  const printer = printerOf(options, output);
  const follows = options.follow === true;
  const deadline = follows && options.timeout !== undefined ? performance.now() + options.timeout : Infinity;
  let from = 0;
  for (;;) {
    const page = await client.readLog(taskRunId, { from, limit: PAGE });
    for (const entry of page.entries) printer.entry(entry);
    from = page.next;
    const isAll = page.ended || (!follows && page.entries.length === 0);
    const end = isAll ? EXIT.ok : whyLeave(interrupt, deadline);
    if (end !== null) {
      printer.end();
      sayWhy(end, taskRunId, output);
      return end;
    }
    if (page.entries.length === 0) await interrupt.sleep(LOOK_AGAIN_MS);
  }
}

function whyLeave(interrupt: Interrupt, deadline: number): ExitCode | null {
  if (interrupt.happened()) return EXIT.interrupted;
  return performance.now() >= deadline ? EXIT.timedOut : null;
}

function sayWhy(end: ExitCode, taskRunId: string, { note }: Output): void {
  const again = `Again: signalbox logs ${taskRunId} --follow`;
  if (end === EXIT.interrupted) note(`Detached; the work goes on. ${again}`);
  if (end === EXIT.timedOut) note(`Time is up, and it is still going. ${again}`);
}

interface Printer {
  readonly entry: (entry: LogEntry) => void;
  readonly end: () => void;
}

function printerOf(options: LogsOptions, output: Output): Printer {
  const wanted = (entry: LogEntry): boolean =>
    (options.stream === undefined || options.stream.includes(entry.stream)) &&
    (options.since === undefined || Date.parse(entry.at) >= options.since.getTime());
  const print = isJson(options) ? jsonPrinter(options, output) : textPrinter(options, output);
  return { entry: (entry) => void (wanted(entry) && print.entry(entry)), end: print.end };
}

/** As one array where all of it is there, else a line each. */
function jsonPrinter(options: LogsOptions, output: Output): Printer {
  if (options.follow === true || formatOf(options) === "jsonl") {
    return { entry: (entry) => output.data(JSON.stringify(entry)), end: () => {} };
  }
  const all: LogEntry[] = [];
  return { entry: (entry) => void all.push(entry), end: () => output.data(JSON.stringify(all)) };
}

function textPrinter({ timestamps }: LogsOptions, { look, data, note }: Output): Printer {
  const splitter = createLineSplitter();
  const color = look.colors.isColorSupported;
  const line = (text: string, at: string | null): void => {
    const stamp =
      timestamps === true && at !== null ? `${clockText(at, new Date().toISOString(), look)} ` : "";
    data(`${stamp}${logText(text, color)}`);
  };
  return {
    entry: ({ stream, text, at, leftOutBytes }) => {
      if (leftOutBytes > 0) note(`(${leftOutBytes.toLocaleString("en")} bytes before this are not kept)`);
      for (const each of splitter.push(stream, text)) line(each, at);
    },
    end: () => {
      for (const each of splitter.rest()) line(each, null);
    },
  };
}

async function search(
  client: Client,
  taskRunId: string,
  { options, output }: Omit<Printing, "interrupt">,
): Promise<ExitCode> {
  const color = output.look.colors.isColorSupported;
  const found = await client.searchLog(taskRunId, options.search ?? "", {
    limit: Math.min(PAGE, options.limit),
  });
  if (isJson(options)) {
    output.data(JSON.stringify(found));
    return EXIT.ok;
  }
  for (const { offset, text } of found.matches) output.data(`${offset}: ${logText(text, color)}`);
  const { count, atLeast } = found.total;
  output.note(`${count.toLocaleString("en")}${atLeast ? " or more" : ""} lines have it.`);
  return EXIT.ok;
}
