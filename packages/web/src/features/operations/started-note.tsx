import type { Operation } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Icon } from "../../shared/ui/icon.tsx";

/** Stays until it is closed: whoever looks away must not miss where to look. */
export function StartedNote({
  operation,
  onClose,
}: {
  readonly operation: Operation;
  readonly onClose: () => void;
}) {
  const words = useWords();
  const { operationId, verb } = operation;
  return (
    <div
      role="status"
      className="panel fixed inset-x-4 bottom-20 z-20 mx-auto flex max-w-md flex-wrap items-center gap-3 px-4 py-3 shadow-lg md:bottom-6"
    >
      <span className="flex-1">{words(`operation.${verb}Started`)}</span>
      <Link to="/operations/$operationId" params={{ operationId }} className="underline">
        {words("operation.show")}
      </Link>
      <button type="button" className="btn btn-quiet px-1.5" onClick={onClose}>
        <Icon name="close" />
        <span className="sr-only">{words("action.close")}</span>
      </button>
    </div>
  );
}
