/** What the entries of the packages export, and what their sources say about it. */

import { posix } from "node:path";

export interface Exported {
  readonly name: string;
  readonly kind: "value" | "type";
  readonly file: string;
}

/** Every name that an entry exports, and the file that it comes from. */
export function exportsIn(entry: string, text: string): readonly Exported[] {
  if (/export \*/.test(text)) throw new Error(`${entry} has an export *: name what is public`);
  return [...text.matchAll(/export (type )?\{([^}]*)\} from "([^"]+)"/g)].flatMap(
    ([, ofTypes, names = "", from = ""]) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "")
        .map((name): Exported => {
          const isType = ofTypes !== undefined || name.startsWith("type ");
          const file = posix.join(posix.dirname(entry), from);
          return { name: name.replace(/^type /, ""), kind: isType ? "type" : "value", file };
        }),
  );
}

export interface Declared {
  readonly what: string;
  /** The types whose members it has as well; of an error that is none of ours. */
  readonly has: string | null;
  /** Of an interface or a class, in their order; of anything else none. */
  readonly members: readonly Member[];
}

export interface Member {
  readonly name: string;
  readonly type: string;
  readonly what: string;
}

/** What a source says of a name that it exports. Throws where it is not there: a page must not outlive what it describes. */
export function declarationOf(name: string, text: string): Declared {
  const lines = text.split("\n");
  const declaration = new RegExp(`^export (?:async )?(class|const|function|interface|type) ${name}\\b`);
  const at = lines.findIndex((line) => declaration.test(line));
  if (at < 0) throw new Error(`${name} is not there`);
  const hasMembers = /^export (?:class|interface)/.test(lines[at] ?? "");
  const end = lines.findIndex((line, index) => index >= at && (line === "}" || line.endsWith("{}")));
  return {
    what: commentBefore(lines, at),
    has: /^export interface \w+(?:<.*?>)? extends (.+) \{/.exec(lines[at] ?? "")?.[1] ?? null,
    members: hasMembers ? membersIn(lines.slice(at + 1, end)) : [],
  };
}

/** Of a class only what a caller reads: neither its constructor nor what every error has. */
function membersIn(body: readonly string[]): readonly Member[] {
  return body.flatMap((line, at) => {
    const [, name, optional, rest] = /^ {2}(?:readonly )?(\w+)(\??)(?::|(?=\()) ?(.*)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined || name === "constructor") return [];
    // The formatter ends a member with a semicolon. Lines of its own are further in, but for the bracket that closes them.
    const last = body.findIndex(
      (each, index) => index >= at && each.endsWith(";") && !/^ {2}(?: |[})\]])/.test(body[index + 1] ?? ""),
    );
    const type = oneLine([rest, ...body.slice(at + 1, last + 1)].join(" "));
    return [{ name: `${name}${optional}`, type, what: commentBefore(body, at) }];
  });
}

function oneLine(type: string): string {
  return type
    .replaceAll(/\s*\/\*\*.*?\*\/\s*/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll("readonly ", "")
    .replace(/^ ?\| /, "")
    .replace(/;$/, "");
}

function commentBefore(lines: readonly string[], at: number): string {
  if (lines[at - 1]?.trim().endsWith("*/") !== true) return "";
  const from = lines.findLastIndex((line, index) => index < at && line.trim().startsWith("/**"));
  return lines
    .slice(from, at)
    .map((line) =>
      line
        .replace(/\*\/$/, "")
        .replace(/^\s*(?:\/\*\*|\*)/, "")
        .trim(),
    )
    .filter((line) => line !== "")
    .join(" ");
}
