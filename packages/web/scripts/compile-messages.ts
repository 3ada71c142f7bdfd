/** Compiles a catalogue when it is bundled, so that no parser of messages travels to the browser. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";

const PREFIX = "virtual:messages/";

export function compileMessages(): Plugin {
  return {
    name: "signalbox-messages",
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return null;
      const locale = id.slice(PREFIX.length + 1);
      const path = fileURLToPath(new URL(`../src/shared/i18n/messages/${locale}.json`, import.meta.url));
      this.addWatchFile(path);
      return `export const messages = ${JSON.stringify(compiled(path))};`;
    },
  };
}

function compiled(path: string): Readonly<Record<string, unknown>> {
  const catalogue = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, string>>;
  return Object.fromEntries(Object.entries(catalogue).map(([id, text]) => [id, compileMessage(text)]));
}
