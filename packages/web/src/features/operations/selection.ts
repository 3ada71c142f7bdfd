/** Which rows of a list are chosen: some of those that are loaded, or all that the filter fits. Pure. */

export type Selection =
  | {
      readonly kind: "rows";
      readonly ids: ReadonlySet<string>;
      /** Where a range begins: the row that was chosen last. */
      readonly anchor: string | null;
    }
  | { readonly kind: "all" };

export const NOTHING: Selection = { kind: "rows", ids: new Set(), anchor: null };

/** An operation takes no more ids; whoever wants more means all that the filter fits. */
export const MOST_ROWS = 1_000;

export function isChosen(selection: Selection, id: string): boolean {
  return selection.kind === "all" || selection.ids.has(id);
}

export function isEmpty(selection: Selection): boolean {
  return selection.kind === "rows" && selection.ids.size === 0;
}

/** Of all that the filter fits, whoever takes one row away means the rows that can be seen, without that one. */
export function toggle(selection: Selection, id: string, shown: readonly string[]): Selection {
  const ids = idsOf(selection, shown);
  if (!ids.delete(id)) ids.add(id);
  return { kind: "rows", ids, anchor: id };
}

/** From the row that was chosen last to this one, in the order in which they are shown. */
export function choosePart(selection: Selection, id: string, shown: readonly string[]): Selection {
  const anchor = selection.kind === "rows" ? selection.anchor : null;
  const [from, to] = [shown.indexOf(anchor ?? ""), shown.indexOf(id)];
  if (from === -1 || to === -1) return toggle(selection, id, shown);
  const part = shown.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { kind: "rows", ids: new Set([...idsOf(selection, shown), ...part]), anchor };
}

/** All that are shown, or none where all of them are chosen. */
export function togglePage(selection: Selection, shown: readonly string[]): Selection {
  return pageState(selection, shown) === "all"
    ? NOTHING
    : { kind: "rows", ids: new Set(shown.slice(0, MOST_ROWS)), anchor: null };
}

export function pageState(selection: Selection, shown: readonly string[]): "none" | "some" | "all" {
  if (selection.kind === "all") return "all";
  const chosen = shown.filter((id) => selection.ids.has(id)).length;
  if (chosen === 0) return "none";
  return chosen === Math.min(shown.length, MOST_ROWS) ? "all" : "some";
}

function idsOf(selection: Selection, shown: readonly string[]): Set<string> {
  return new Set(selection.kind === "all" ? shown : selection.ids);
}
