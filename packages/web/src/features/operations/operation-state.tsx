import type { Operation } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { StatusIcon } from "../../shared/ui/status-icon.tsx";

const ICON = { RUNNING: "RUNNING", DONE: "DONE", ABORTED: "CANCELED" } as const;

/** Icon and word, as statuses of task runs have them; an aborted one has that of what was canceled. */
export function OperationState({ status, large = false }: OperationStateProps) {
  const words = useWords();
  return (
    <span
      className={`inline-flex items-center gap-1.5 font-semibold whitespace-nowrap ${large ? "text-base" : "text-sm"}`}
      style={{ color: `var(--${ICON[status]})` }}
      data-operation-status={status}
    >
      <StatusIcon status={ICON[status]} size={large ? 20 : 16} />
      <span className="self-baseline">{words(`operationStatus.${status}`)}</span>
    </span>
  );
}

interface OperationStateProps {
  readonly status: Operation["status"];
  readonly large?: boolean;
}
