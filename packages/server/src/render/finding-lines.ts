import type { Look } from "./look.ts";
import { alignColumns } from "./table.ts";

/** One thing that was looked at, and what to do about it where it is not well. */
export interface Finding {
  readonly what: string;
  readonly state: "ok" | "warn" | "fail";
  readonly text: string;
  readonly fix?: string;
}

const COLOR = { ok: "green", warn: "yellow", fail: "red" } as const;

export function findingLines(findings: readonly Finding[], look: Look): readonly string[] {
  const rows = findings.map(({ what, state, text }) => [look.colors[COLOR[state]](state), what, text]);
  return alignColumns(rows).flatMap((line, index) => {
    const fix = findings[index]?.fix;
    return fix === undefined ? [line] : [line, `      ${fix}`];
  });
}
