/** What an error says, as a text that can be stored. */

const LONGEST_MESSAGE = 2_000;

export function messageOf(error: unknown): string {
  try {
    return storable(String(error instanceof Error ? error.message : error));
  } catch {
    return "threw something that cannot be shown";
  }
}

/** What a handler throws is its own business, but it must be storable: cut first, a cut can halve a pair. */
export function storable(text: string): string {
  return text
    .slice(0, LONGEST_MESSAGE)
    .replaceAll("\u0000", "\uFFFD")
    .replace(/\p{Surrogate}/gu, "\uFFFD");
}
