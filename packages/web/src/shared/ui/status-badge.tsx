import { useWords } from "../i18n/use-words.ts";
import { type ShownStatus, StatusIcon } from "./status-icon.tsx";

/** Icon and word, always together. */
export function StatusBadge({
  status,
  large = false,
}: {
  readonly status: ShownStatus;
  readonly large?: boolean;
}) {
  const words = useWords();
  return (
    <span
      className={`inline-flex items-center gap-1.5 font-semibold whitespace-nowrap ${large ? "text-base" : "text-sm"}`}
      style={{ color: `var(--${status})` }}
      data-status={status}
    >
      <StatusIcon status={status} size={large ? 20 : 16} />
      {/* By its word it stands on a line with what is beside it, not by the foot of its icon. */}
      <span className="self-baseline">{words(`status.${status}`)}</span>
    </span>
  );
}
