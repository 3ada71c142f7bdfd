import { useState } from "react";
import { choosePart, NOTHING, type Selection, toggle, togglePage } from "./selection.ts";

export interface RowSelection {
  readonly selection: Selection;
  readonly select: (selection: Selection) => void;
  readonly clear: () => void;
  readonly togglePage: (shown: readonly string[]) => void;
  /** `part`: from the row that was chosen last to this one. */
  readonly choose: (id: string, shown: readonly string[], part: boolean) => void;
}

export function useSelection(): RowSelection {
  const [selection, select] = useState<Selection>(NOTHING);
  return {
    selection,
    select,
    clear: () => select(NOTHING),
    togglePage: (shown) => select((before) => togglePage(before, shown)),
    choose: (id, shown, part) => select((before) => (part ? choosePart : toggle)(before, id, shown)),
  };
}
