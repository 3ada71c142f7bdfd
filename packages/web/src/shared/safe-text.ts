/** Titles and logs come from anyone: what would turn the direction of reading or hide itself is shown as a dot. */
export function safeText(text: string): string {
  return text.replace(/[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, "·");
}

/** Enough of an id to tell it from its neighbours: ids begin with the time, those of one moment differ at their end. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
