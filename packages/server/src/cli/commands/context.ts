/** Servers by name. */

import { resolve } from "node:path";
import { readClientConfig } from "../../config.ts";
import type { Column } from "../../render/table.ts";
import { safeText } from "../../render/task-name.ts";
import { UsageError } from "../../usage-error.ts";
import { checkedUrl } from "../find-server.ts";
import type { Output } from "../output.ts";
import { printList } from "../print.ts";
import { readToken } from "../read-token.ts";
import type { ListOptions } from "../shared-options.ts";
import { contextCalled, readUserConfig, type UserConfig, writeUserConfig } from "../user-config.ts";

export interface ContextAddOptions {
  readonly server: string;
  readonly tokenFile?: string;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;

interface ContextRow {
  readonly name: string;
  readonly server: string;
  readonly tokenFile: string | null;
  readonly current: boolean;
}

export async function contextList(options: ListOptions, output: Output): Promise<void> {
  const config = await readUserConfig();
  const current = readClientConfig().context ?? config.context;
  const rows = Object.entries(config.contexts).map(
    ([name, { server, tokenFile }]): ContextRow => ({
      name,
      server,
      tokenFile: tokenFile ?? null,
      current: name === current,
    }),
  );
  const columns: readonly Column<ContextRow>[] = [
    { name: "current", text: (row) => (row.current ? "*" : "") },
    { name: "name", text: ({ name }) => safeText(name) },
    { name: "server", text: ({ server }) => safeText(server) },
    { name: "token-file", text: ({ tokenFile }) => safeText(tokenFile ?? "") },
  ];
  const empty = "There are no contexts. Add one: signalbox context add <name> --server <url>";
  printList({ rows, columns, nameOf: ({ name }) => name, empty }, options, output);
}

export async function contextUse(name: string, output: Output): Promise<void> {
  const config = await readUserConfig();
  const { server } = contextCalled(config, name);
  await writeUserConfig({ ...config, context: name });
  output.note(`Commands ask ${server} now.`);
}

export async function contextAdd(
  name: string,
  { server, tokenFile }: ContextAddOptions,
  output: Output,
): Promise<void> {
  if (!NAME.test(name)) {
    throw new UsageError(`"${name}" is not a name of a context; use letters, digits, dots and dashes`);
  }
  const config = await readUserConfig();
  // Read once, so that a wrong path is noticed now.
  if (tokenFile !== undefined) await readToken(tokenFile);
  const context = {
    server: checkedUrl(server, "--server"),
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(tokenFile) }),
  };
  await writeUserConfig({ ...config, contexts: { ...config.contexts, [name]: context } });
  output.note(`Context ${name} is ${context.server}. Use it always: signalbox context use ${name}`);
}

export async function contextRemove(name: string, output: Output): Promise<void> {
  const config = await readUserConfig();
  contextCalled(config, name);
  await writeUserConfig(without(config, name));
  output.note(`Context ${name} is gone.`);
}

function without({ context, contexts, defaults }: UserConfig, name: string): UserConfig {
  const { [name]: _, ...rest } = contexts;
  return { contexts: rest, defaults, ...(context === undefined || context === name ? {} : { context }) };
}
