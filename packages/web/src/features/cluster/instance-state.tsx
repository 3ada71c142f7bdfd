import type { InstanceView } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { useNow } from "../../shared/time/clock.ts";
import { stateOf } from "./state-of.ts";

const LOOK = {
  live: { path: "M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3", tone: "text-done" },
  late: { path: "M8 2l6 11H2z", tone: "text-pending" },
  draining: { path: "M3 6h10v4H3z", tone: "text-available" },
  lost: {
    path: "M3 4.5L4.5 3 8 6.5 11.5 3 13 4.5 9.5 8 13 11.5 11.5 13 8 9.5 4.5 13 3 11.5 6.5 8z",
    tone: "text-failed",
  },
  left: { path: "M2 6.5h6V3l6 5-6 5V9.5H2z", tone: "text-muted" },
} as const;

interface InstanceStateProps {
  readonly instance: InstanceView;
  /** When the database was asked. */
  readonly readAt: string;
}

/** Word and shape. */
export function InstanceState({ instance, readAt }: InstanceStateProps) {
  const words = useWords();
  const state = stateOf(instance, Date.parse(readAt), useNow());
  const { path, tone } = LOOK[state];
  return (
    <span
      className={`inline-flex items-center gap-1.5 text-sm font-semibold whitespace-nowrap ${tone}`}
      data-state={state}
    >
      <svg aria-hidden="true" width="14" height="14" viewBox="0 0 16 16" fill="currentColor">
        <path d={path} />
      </svg>
      <span className="self-baseline">{words(`instance.${state}`)}</span>
    </span>
  );
}
