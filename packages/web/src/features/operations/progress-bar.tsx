import type { Operation } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { progressOf } from "./progress-of.ts";

const COLOUR = { RUNNING: "bg-running", DONE: "bg-done", ABORTED: "bg-line-strong" } as const;

export function ProgressBar({ operation }: { readonly operation: Operation }) {
  const words = useWords();
  const { share } = progressOf(operation);
  return (
    <div
      role="progressbar"
      aria-label={words("operation.progress")}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(share * 100)}
      className="h-2.5 overflow-hidden rounded bg-raised"
    >
      <div className={`h-full rounded ${COLOUR[operation.status]}`} style={{ width: `${share * 100}%` }} />
    </div>
  );
}
