/** Lists as PostgreSQL reads them: `{a,"b c",NULL}`. */

// What the parser of arrays takes as it is. Everything else is quoted, and so is what it would take for NULL.
const PLAIN = /^[\w.:-]+$/;
const NULL = /^null$/i;
const TO_BE_ESCAPED = /["\\]/g;

/** Null for a list of something else than texts, numbers, truths and nulls. */
export function arrayText(values: readonly unknown[]): string | null {
  const parts: string[] = [];
  for (const value of values) {
    const part = elementText(value);
    if (part === null) return null;
    parts.push(part);
  }
  return `{${parts.join(",")}}`;
}

function elementText(value: unknown): string | null {
  if (typeof value === "string") return textText(value);
  if (value === null || value === undefined) return "NULL";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

function textText(value: string): string {
  if (PLAIN.test(value) && !(value.length === 4 && NULL.test(value))) return value;
  return `"${value.replaceAll(TO_BE_ESCAPED, "\\$&")}"`;
}
