/** The statuses it went through, and how long it stayed in each: hatched, dotted, solid, then how it ended. */

import type { TaskRunDetail } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { useNow } from "../../shared/time/clock.ts";
import { Clock, Lasting } from "../../shared/time/instant.tsx";
import { lengthText } from "../../shared/time/length.ts";
import { Panel } from "../../shared/ui/panel.tsx";
import { StatusBadge } from "../../shared/ui/status-badge.tsx";
import { codeLabel, type WaitingCode } from "../task-runs/cause-label.ts";
import { type Leg, legsOf } from "./legs.ts";

const TEXTURE = {
  PENDING: "bg-[repeating-linear-gradient(135deg,var(--PENDING)_0_2px,transparent_2px_6px)]",
  AVAILABLE: "bg-[radial-gradient(var(--AVAILABLE)_1.3px,transparent_1.5px)] bg-size-[6px_6px]",
  RUNNING: "bg-running",
} as const;

export function Timeline({ taskRun }: { readonly taskRun: TaskRunDetail }) {
  const words = useWords();
  const legs = legsOf(taskRun);
  return (
    <Panel title={words("timeline.title")}>
      <Bar legs={legs} />
      <ol className="grid gap-1 px-4 pb-3">
        {legs.map(({ status, from, until }) => (
          <li
            key={status}
            className="grid grid-cols-[minmax(7rem,8.5rem)_auto_minmax(0,1fr)] items-baseline gap-x-3 sm:grid-cols-[8.5rem_9rem_minmax(0,1fr)]"
          >
            <StatusBadge status={status} />
            <span className="text-muted tabular-nums">
              <Clock at={from} />
            </span>
            <span className="max-sm:text-end">
              <Lasting from={from} until={until} />
            </span>
          </li>
        ))}
        {taskRun.finishedAt !== null && (
          <li className="grid grid-cols-[minmax(7rem,8.5rem)_minmax(0,1fr)] items-baseline gap-x-3 sm:grid-cols-[8.5rem_minmax(0,1fr)]">
            <StatusBadge status={taskRun.status} />
            <span className="text-muted tabular-nums">
              <Clock at={taskRun.finishedAt} />
            </span>
          </li>
        )}
      </ol>
      <WaitedAt waitedMs={taskRun.waitedMs} />
    </Panel>
  );
}

function Bar({ legs }: { readonly legs: readonly Leg[] }) {
  const now = useNow();
  const lengths = legs.map(({ from, until }) =>
    Math.max(0, (until === null ? now : Date.parse(until)) - Date.parse(from)),
  );
  return (
    <div aria-hidden="true" className="mx-4 mb-3 flex h-4 items-center gap-px overflow-hidden rounded">
      {legs.map(({ status }, index) => (
        <span
          key={status}
          className={`min-w-[3px] ${status === "RUNNING" ? "h-4" : "h-2"} ${TEXTURE[status]}`}
          style={{ flexGrow: Math.max(lengths[index] ?? 0, 1), flexBasis: 0 }}
        />
      ))}
    </div>
  );
}

function WaitedAt({ waitedMs }: { readonly waitedMs: TaskRunDetail["waitedMs"] }) {
  const words = useWords();
  const waits = (Object.entries(waitedMs) as [WaitingCode, number][]).filter(([, ms]) => ms > 0);
  if (waits.length === 0) return null;
  const parts = waits
    .toSorted(([, one], [, other]) => other - one)
    .map(([code, ms]) => `${codeLabel(code, words)} ${lengthText(ms, words.locale)}`);
  return (
    <p className="border-t border-line px-4 py-2 text-sm text-muted">
      {words("timeline.waitedAt")} {parts.join(", ")}
    </p>
  );
}
