import { useEffect, useRef } from "react";
import { type MessageId, useWords } from "../shared/i18n/use-words.ts";
import { StatusBadge } from "../shared/ui/status-badge.tsx";
import { STATUSES } from "../shared/ui/status-icon.tsx";

const KEYS: readonly { readonly keys: string; readonly does: MessageId }[] = [
  { keys: "?", does: "shortcuts.title" },
  { keys: "g o", does: "nav.overview" },
  { keys: "g t", does: "nav.tasks" },
  { keys: "g q", does: "nav.resources" },
  { keys: "g c", does: "nav.cluster" },
  { keys: "/", does: "shortcuts.filter" },
  { keys: "j  k", does: "shortcuts.move" },
  { keys: "Enter", does: "shortcuts.open" },
  { keys: "1–5", does: "shortcuts.block" },
  { keys: "w", does: "shortcuts.why" },
  { keys: "l", does: "shortcuts.logs" },
  { keys: "p", does: "shortcuts.pause" },
  { keys: "Esc", does: "shortcuts.close" },
];

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="shortcuts-title"
      className="panel m-auto w-[min(28rem,calc(100vw-2rem))] p-5 text-text"
      onCancel={onClose}
    >
      <h2 id="shortcuts-title" className="text-lg">
        {words("shortcuts.title")}
      </h2>
      <dl className="mt-3 grid grid-cols-[6rem_1fr] gap-y-1.5">
        {KEYS.map(({ keys, does }) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-raised px-1.5 py-0.5 font-mono text-sm">
                {keys}
              </kbd>
            </dt>
            <dd>{words(does)}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 text-sm text-muted">{words("shortcuts.note")}</p>
      <h3 className="mt-4">{words("shortcuts.statuses")}</h3>
      <ul className="mt-2 grid grid-cols-2 gap-y-1.5">
        {STATUSES.map((status) => (
          <li key={status}>
            <StatusBadge status={status} />
          </li>
        ))}
      </ul>
      <div className="mt-4 text-end">
        <button type="button" className="btn" autoFocus onClick={onClose}>
          {words("action.close")}
        </button>
      </div>
    </dialog>
  );
}
