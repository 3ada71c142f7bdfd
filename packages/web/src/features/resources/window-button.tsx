/** Adds a window to a queue or a resource, or changes one. */

import type { Windowed, WindowSpec } from "@signalbox/contract";
import { useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { ActionButton } from "../../shared/ui/action-button.tsx";
import { draftOf, type WindowDraft, windowOf, withWindow } from "./window-draft.ts";
import { WindowFields } from "./window-fields.tsx";

export interface WindowsOf {
  readonly what: Windowed;
  /** As people call it. */
  readonly name: string;
  readonly windows: readonly WindowSpec[];
}

interface WindowButtonProps extends WindowsOf {
  /** Null: a new one. */
  readonly window: WindowSpec | null;
}

export function WindowButton({ what, name, windows, window }: WindowButtonProps) {
  const words = useWords();
  // Null: as it is now, also when somebody else has changed it meanwhile.
  const [typed, setTyped] = useState<WindowDraft | null>(null);
  const draft = typed ?? draftOf(window, Intl.DateTimeFormat().resolvedOptions().timeZone);
  const verb = window === null ? "add" : "change";
  return (
    <ActionButton
      label={words(`window.${verb}`)}
      title={words(`window.${verb}Title`, { name })}
      keep={words("window.keep")}
      act={words(`window.${verb}Act`)}
      method="PUT"
      path="windows"
      body={() => ({ what, windows: withWindow(windows, window, windowOf(draft)) })}
      onDone={() => setTyped(null)}
    >
      <WindowFields draft={draft} onChange={setTyped} />
    </ActionButton>
  );
}

export function RemoveWindowButton({ what, name, windows, window }: WindowButtonProps) {
  const words = useWords();
  return (
    <ActionButton
      label={words("window.remove")}
      title={words("window.removeTitle", { name })}
      keep={words("window.keep")}
      act={words("window.removeAct")}
      method="PUT"
      path="windows"
      body={() => ({ what, windows: withWindow(windows, window, null) })}
      dangerous
    >
      <p>{words("window.removeText")}</p>
    </ActionButton>
  );
}
