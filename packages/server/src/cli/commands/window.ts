/** `window list`, `set` and `clear`: when work may start on a queue or a resource. */

import type { Client, RulesInForce, Windowed, WindowSpec } from "@signalbox/contract";
import type { Column } from "../../render/table.ts";
import { quoted, safeText } from "../../render/task-name.ts";
import { sinceText } from "../../render/time.ts";
import type { Moment } from "../../render/waiting-cause.ts";
import { windowNowText, windowText } from "../../render/window-text.ts";
import { UsageError } from "../../usage-error.ts";
import { confirm } from "../confirm.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { findServer } from "../find-server.ts";
import { parseInstant } from "../length-argument.ts";
import type { Output } from "../output.ts";
import { isTable, printList, printOne } from "../print.ts";
import type { AskOptions, ChangeOptions, ListOptions } from "../shared-options.ts";

export interface WhereOptions {
  readonly queue?: string;
  readonly resource?: string;
}

export interface WindowSetOptions extends AskOptions, ChangeOptions, WhereOptions {
  readonly freeze?: true;
  readonly opens?: string;
  /** Milliseconds. */
  readonly lasts?: number;
  readonly zone?: string;
  readonly from?: string;
  readonly until?: string;
  readonly add?: true;
}

type WindowRule = RulesInForce["windows"][number];

export async function windowList(options: AskOptions & ListOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const { windows, cut, computedAt } = await client.readRules({ limit: options.limit ?? 1_000 });
  const columns = windowColumns({ now: computedAt, look: output.look });
  const nameOf = ({ what }: WindowRule): string => called(what);
  printList({ rows: windows, columns, nameOf, empty: "There are no windows." }, options, output);
  if (cut.includes("windows") && isTable(options)) output.note("There are more (--limit).");
}

function windowColumns(moment: Moment): readonly Column<WindowRule>[] {
  return [
    { name: "on", text: ({ what }) => safeText(called(what)) },
    { name: "now", text: ({ now }) => windowNowText(now, moment) },
    { name: "windows", text: ({ windows }) => windows.map((each) => windowText(each, moment)).join("; ") },
    {
      name: "since",
      wide: true,
      text: ({ since }) => (since === null ? "" : `${sinceText(since, moment.now)} ago`),
    },
  ];
}

export async function windowSet(options: WindowSetOptions, output: Output): Promise<void> {
  const what = whereOf(options);
  const window = windowOf(options);
  const client = await findServer(options);
  const windows = options.add === true ? [...(await windowsOn(client, what)), window] : [window];
  const moment = { now: new Date().toISOString(), look: output.look };
  const said = windows.map((each) => windowText(each, moment)).join("; ");
  if (options.dryRun === true) return output.data(`${called(what)} would have: ${safeText(said)}`);
  await client.setWindows(what, windows);
  const lines = (): readonly string[] => [`${called(what)} has now: ${safeText(said)}`];
  printOne({ what, windows }, { name: called(what), lines }, { options, output });
}

export async function windowClear(
  options: AskOptions & ChangeOptions & WhereOptions,
  output: Output,
): Promise<ExitCode> {
  const what = whereOf(options);
  const client = await findServer(options);
  const { length } = await windowsOn(client, what);
  if (options.dryRun === true) {
    output.data(`Would take ${length} windows off ${called(what)}.`);
    return EXIT.ok;
  }
  if (
    length > 0 &&
    !(await confirm({ text: `Take ${length} windows off ${called(what)}?`, grave: false }, options))
  ) {
    output.note("Nothing was done.");
    return EXIT.refused;
  }
  await client.setWindows(what, []);
  const lines = (): readonly string[] => [`${called(what)} has no windows now (before: ${length}).`];
  printOne({ what, windows: [] }, { name: called(what), lines }, { options, output });
  return EXIT.ok;
}

async function windowsOn(client: Client, what: Windowed): Promise<readonly WindowSpec[]> {
  if ("resource" in what) return (await client.getResource(what.resource)).windows;
  const { queues } = await client.listQueues();
  return queues.find(({ queue }) => queue === what.queue)?.windows ?? [];
}

function called(what: Windowed): string {
  return "queue" in what ? `queue ${quoted(what.queue)}` : `resource ${quoted(what.resource)}`;
}

function whereOf({ queue, resource }: WhereOptions): Windowed {
  if (queue !== undefined && resource === undefined) return { queue };
  if (resource !== undefined && queue === undefined) return { resource };
  throw new UsageError("Give --queue <name> or --resource <name>");
}

/** What a good expression or zone is, the server says. */
function windowOf({ freeze, ...times }: Omit<WindowSetOptions, keyof AskOptions>): WindowSpec {
  const kind = freeze === true ? "freeze" : "maintenance";
  const given = (["opens", "lasts", "zone", "from", "until"] as const).filter(
    (name) => times[name] !== undefined,
  );
  const { opens = "", lasts = 0, zone = "UTC", from = "", until = "" } = times;
  switch (given.join()) {
    case "opens,lasts":
    case "opens,lasts,zone":
      return { kind, opens, lastsMs: lasts, timeZone: zone };
    case "from,until":
      return { kind, from: instant(from, "--from"), until: instant(until, "--until") };
    default:
      throw new UsageError(
        'Give --opens "0 2 * * 1-5", --lasts 3h and a --zone for a window that comes again, or --from and --until for one that does not',
      );
  }
}

function instant(text: string, option: string): string {
  const at = parseInstant(text);
  if (at !== null) return at.toISOString();
  throw new UsageError(`${option} is "${text}"; give an instant such as 2026-11-16T12:00:00Z`);
}
