/** Ids begin with the time, and those that were enqueued together differ in the digits that come last here: this much is unique. */
const SHORT_ID_CHARACTERS = 28;

export function shortId(id: string): string {
  return id.slice(0, SHORT_ID_CHARACTERS);
}

/** Titles come from anyone; whatever would move the cursor or break the line is shown as a dot. */
export function safeText(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, "·");
}

export function quoted(title: string): string {
  return `"${safeText(title)}"`;
}
