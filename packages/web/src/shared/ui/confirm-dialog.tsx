/**
 * Asks before something is changed. The browser's own modal dialog: it keeps the focus inside and gives it back, and needs no
 * style element, which the content security policy would refuse.
 */

import { type ReactNode, useEffect, useId, useRef } from "react";
import { useWords } from "../i18n/use-words.ts";

export interface ConfirmDialogProps {
  /** The verb and what it is done to: "Cancel this task run?" */
  readonly title: string;
  readonly children?: ReactNode;
  /** What the harmless button says: "Keep running". It has the focus first. */
  readonly keep: string;
  /** What the other one says, the verb again: "Cancel task run". */
  readonly act: string;
  readonly dangerous?: boolean;
  readonly pending: boolean;
  readonly problem: string | null;
  readonly onKeep: () => void;
  readonly onAct: () => void;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, keep, act, dangerous = false, pending, problem, onKeep, onAct } = props;
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const harmless = useRef<HTMLButtonElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    // Opening moves the focus to the first field.
    harmless.current?.focus();
    return () => opened?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      role="alertdialog"
      aria-labelledby={titleId}
      className="panel m-auto w-[min(32rem,calc(100vw-2rem))] p-5 text-text"
      onCancel={(event) => {
        event.preventDefault();
        onKeep();
      }}
    >
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onAct();
        }}
      >
        <h2 id={titleId} className="text-lg">
          {title}
        </h2>
        <div className="mt-2 grid gap-3">{children}</div>
        {problem !== null && (
          <p role="alert" className="mt-3 rounded-md bg-danger-page px-3 py-2 text-danger-text">
            {problem}
          </p>
        )}
        <div className="mt-5 flex flex-wrap justify-end gap-2">
          <button type="button" className="btn" ref={harmless} onClick={onKeep}>
            {keep}
          </button>
          <button type="submit" className={`btn ${dangerous ? "btn-danger" : "btn-ink"}`} disabled={pending}>
            {pending ? words("action.pending") : act}
          </button>
        </div>
      </form>
    </dialog>
  );
}
