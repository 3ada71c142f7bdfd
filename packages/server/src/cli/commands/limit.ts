/** `limit list` and `limit set`: of concurrency keys, rates, queues and runs. */

import type { Client, RulesInForce } from "@signalbox/contract";
import type { Column } from "../../render/table.ts";
import { quoted, safeText } from "../../render/task-name.ts";
import { lengthText, sinceText } from "../../render/time.ts";
import { UsageError } from "../../usage-error.ts";
import { findRunId } from "../find-run.ts";
import { findServer } from "../find-server.ts";
import { parseLength } from "../length-argument.ts";
import type { Output } from "../output.ts";
import { isTable, printList, printOne } from "../print.ts";
import type { AskOptions, ListOptions } from "../shared-options.ts";

export type LimitOptions = AskOptions & { readonly dryRun?: true };
const LIMITED = ["key", "rate", "queue", "run"] as const;
type Limited = (typeof LIMITED)[number];

interface LimitRow {
  readonly over: Exclude<Limited, "run">;
  readonly name: string;
  readonly limit: string;
  readonly free: number | null;
  readonly since: string | null;
}

export async function limitList(options: AskOptions & ListOptions, output: Output): Promise<void> {
  const client = await findServer(options);
  const rules = await client.readRules({ limit: options.limit ?? 1_000 });
  printList(
    {
      rows: rowsOf(rules),
      columns: limitColumns(rules.computedAt),
      nameOf: ({ name }) => name,
      empty: "There are no limits. Those of runs: signalbox runs list",
    },
    options,
    output,
  );
  const cut = rules.cut.some((list) => list === "keyLimits" || list === "rates" || list === "queues");
  if (cut && isTable(options)) output.note("There are more (--limit).");
}

function limitColumns(now: string): readonly Column<LimitRow>[] {
  return [
    { name: "over", text: ({ over }) => over },
    { name: "name", text: ({ name }) => safeText(name) },
    { name: "limit", text: ({ limit }) => limit },
    { name: "free", text: ({ free }) => (free === null ? "" : String(free)) },
    { name: "since", text: ({ since }) => (since === null ? "" : `${sinceText(since, now)} ago`) },
  ];
}

function rowsOf({ keyLimits, rates, queues }: RulesInForce): readonly LimitRow[] {
  return [
    ...keyLimits.map(
      ({ concurrencyKey, limit, since }): LimitRow => ({
        over: "key",
        name: concurrencyKey,
        limit: `${limit} at once`,
        free: null,
        since,
      }),
    ),
    ...rates.map(
      ({ rate, amount, perMs, free, since }): LimitRow => ({
        over: "rate",
        name: rate,
        limit: `${amount} in ${lengthText(perMs)}`,
        free,
        since,
      }),
    ),
    ...queues
      .filter(({ limit }) => limit > 0)
      .map(
        ({ queue, limit, since }): LimitRow => ({
          over: "queue",
          name: queue,
          limit: `${limit} at once`,
          free: null,
          since,
        }),
      ),
  ];
}

export async function limitSet(
  { over, name, limit }: { readonly over: string; readonly name: string; readonly limit: string },
  options: LimitOptions,
  output: Output,
): Promise<void> {
  const limited = LIMITED.find((each) => each === over);
  if (limited === undefined) throw new UsageError(`"${over}" has no limit; there are ${LIMITED.join(", ")}`);
  const change = limited === "rate" ? rateOf(limit) : { limit: wholeOf(limit, limited) };
  if (options.dryRun === true) return output.data(`Would set ${over} ${quoted(name)} to ${limit}.`);
  const client = await findServer(options);
  await apply(client, { over: limited, name, change });
  const lines = (): readonly string[] => [`${limited} ${quoted(name)} is limited to ${limit} now.`];
  printOne({ over: limited, name, ...change }, { name, lines }, { options, output });
}

type Change = { readonly limit: number } | { readonly amount: number; readonly perMs: number };

async function apply(
  client: Client,
  { over, name, change }: { readonly over: Limited; readonly name: string; readonly change: Change },
): Promise<void> {
  if ("amount" in change) return await client.setRate(name, change);
  const { limit } = change;
  if (over === "run") return await client.setRunLimit(await findRunId(client, name), limit);
  return await (over === "queue" ? client.setQueue(name, { limit }) : client.setKeyLimit(name, limit));
}

/** "100/1m": at most so many starts in any such period. */
function rateOf(text: string): { readonly amount: number; readonly perMs: number } {
  const [, amount, length] = /^(\d{1,9})\/(\w+)$/.exec(text) ?? [];
  const perMs = length === undefined ? null : parseLength(/^\d/.test(length) ? length : `1${length}`);
  if (amount !== undefined && perMs !== null) return { amount: Number(amount), perMs };
  throw new UsageError(`"${text}" is not a rate; give one such as 100/1m, 5/s or 1000/24h`);
}

function wholeOf(text: string, over: Limited): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const none = over === "key" ? "" : ", 0 for none";
  throw new UsageError(`"${text}" is not a limit; give a whole number${none}`);
}
