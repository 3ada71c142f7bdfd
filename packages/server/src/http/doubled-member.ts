/**
 * Finds a name that an object of a JSON text has twice. The parser keeps the last of them without a word, and another reader of
 * the same text may keep the first. Pure.
 */

/** `value` is what the text was parsed to: it has each name once, so that most texts are judged by their count. Null: none. */
export function doubledMember(text: string, value: unknown): string | null {
  const kept = keptNames(value);
  let written = 0;
  eachWrittenName(text, () => {
    written += 1;
  });
  if (written === kept.length) return null;
  const left = new Map<string, number>();
  for (const name of kept) left.set(name, (left.get(name) ?? 0) + 1);
  let doubled: string | null = null;
  eachWrittenName(text, (quoted) => {
    const name = JSON.parse(quoted) as string;
    const count = left.get(name) ?? 0;
    if (count === 0) doubled ??= name;
    left.set(name, count - 1);
  });
  return doubled;
}

/** Of the objects in it. Not by recursion: how deep it is has not been looked at yet. */
function keptNames(value: unknown): readonly string[] {
  const names: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (!Array.isArray(next)) for (const name of Object.keys(next)) names.push(name);
    for (const member of Object.values(next)) open.push(member);
  }
  return names;
}

/** In a text that is JSON every string with a colon behind it is a name. */
function eachWrittenName(text: string, tell: (quoted: string) => void): void {
  for (let from = text.indexOf('"'); from !== -1; ) {
    let end = text.indexOf('"', from + 1);
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
    let behind = end + 1;
    while (" \t\n\r".includes(text[behind] ?? "x")) behind += 1;
    if (text[behind] === ":") tell(text.slice(from, end + 1));
    from = text.indexOf('"', end + 1);
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}
