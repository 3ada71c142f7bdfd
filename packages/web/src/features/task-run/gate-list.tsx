/** Every gate and its state: passed, blocking, or not for this task. */

import type { Blocker, ExplainedCause, GateReport } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Lasting, Relative, useInstantFormat } from "../../shared/time/instant.tsx";
import { StatusBadge } from "../../shared/ui/status-badge.tsx";
import { causeLabel } from "../task-runs/cause-label.ts";
import { TaskRunLink } from "../task-runs/task-run-cells.tsx";
import { causeFacts } from "./cause-facts.ts";

export function GateList({ gates }: { readonly gates: readonly GateReport[] }) {
  const words = useWords();
  // Those that block first: the reader came for them.
  const order = { blocking: 0, passed: 1, not_applicable: 2 } as const;
  const sorted = gates.toSorted((one, other) => order[one.state] - order[other.state]);
  const applying = sorted.filter(({ state }) => state !== "not_applicable");
  const others = sorted.filter(({ state }) => state === "not_applicable");
  return (
    <div className="px-4 py-2">
      <ul className="grid gap-1.5">
        {applying.map((gate) => (
          <Gate key={gate.code} gate={gate} />
        ))}
      </ul>
      {others.length > 0 && (
        <p className="mt-2 text-sm text-muted">
          {words("gate.notApplicable")} {others.map(({ code }) => words(`gate.${code}`)).join(", ")}
        </p>
      )}
    </div>
  );
}

function Gate({ gate }: { readonly gate: GateReport }) {
  const words = useWords();
  const blocking = gate.state === "blocking";
  return (
    <li
      data-gate={gate.code}
      data-state={gate.state}
      className="grid grid-cols-[7.5rem_minmax(0,1fr)] gap-x-3 sm:grid-cols-[7.5rem_9rem_minmax(0,1fr)]"
    >
      <span className={blocking ? "font-bold text-pending" : "text-done"}>
        <span aria-hidden="true">{blocking ? "■ " : "✓ "}</span>
        {words(`gateState.${gate.state}`)}
      </span>
      <span className="font-medium">{words(`gate.${gate.code}`)}</span>
      <div className="min-w-0 max-sm:col-span-2">
        {gate.causes.map((explained, index) => (
          <Cause key={`${explained.cause.code} ${index}`} explained={explained} />
        ))}
      </div>
    </li>
  );
}

function Cause({ explained }: { readonly explained: ExplainedCause }) {
  const words = useWords();
  const format = useInstantFormat();
  const { cause, blockers, position, lineLength, earliestAt } = explained;
  const label = causeLabel(cause, words, (at) => format(at, Date.now()));
  const facts = causeFacts(cause, words);
  return (
    <div>
      <p>
        {label}
        {facts !== "" && <span className="text-muted"> · {facts}</span>}
      </p>
      {earliestAt !== null && (
        <p className="text-sm">
          {words("why.earliest")} <Relative at={earliestAt} />
        </p>
      )}
      {blockers.length > 0 && (
        <ul className="mt-0.5 grid gap-0.5">
          {blockers.map((blocker) => (
            <BlockerLine key={blocker.taskRunId} blocker={blocker} />
          ))}
        </ul>
      )}
      {position !== null && (
        <p className="text-sm text-muted">
          {lineLength === null
            ? words("why.position", { position })
            : words("why.positionOf", { position, length: lineLength })}
        </p>
      )}
    </div>
  );
}

export function BlockerLine({ blocker }: { readonly blocker: Blocker }) {
  const words = useWords();
  return (
    <li className="flex flex-wrap items-center gap-x-2.5">
      <TaskRunLink taskRun={blocker} />
      <StatusBadge status={blocker.status} />
      <span className="text-sm text-muted">
        {blocker.instanceName !== null && (
          <>{words("note.on", { instance: safeText(blocker.instanceName) })} · </>
        )}
        <Lasting from={blocker.since} />
      </span>
    </li>
  );
}
