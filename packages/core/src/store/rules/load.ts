/** The rules that people and packages put on queues, runs, resources and tasks, as the gates see them. */

import type { PauseView, StopView, WindowView } from "../../domain/gates/gate.ts";
import { asTaskId, type TaskId } from "../../domain/ids.ts";
import { type PauseScope, partsOf, type WindowScope } from "../../domain/scope.ts";
import { judgeWindows, type Window } from "../../domain/window.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

export async function loadPauses(
  db: Database,
  scopes: readonly PauseScope[],
): Promise<ReadonlyMap<PauseScope, PauseView>> {
  if (scopes.length === 0) return new Map();
  const parts = scopes.map(partsOf);
  const rows = await db.query(
    preparedSql<PauseView & { scope: PauseScope }>("loadPauses")`
      SELECT p.over || ':' || p.name AS scope, p.since, p.changed_by AS "by", p.reason
        FROM unnest(${parts.map(({ over }) => over)}::text[], ${parts.map(({ name }) => name)}::text[]) AS g (over, name)
        JOIN signalbox.pause AS p ON p.over = g.over AND p.name = g.name
       WHERE p.paused
    `,
  );
  return new Map(rows.map(({ scope, since, by, reason }) => [scope, { since, by, reason }]));
}

export async function loadWindows(
  db: Database,
  scopes: readonly WindowScope[],
): Promise<ReadonlyMap<WindowScope, readonly Window[]>> {
  if (scopes.length === 0) return new Map();
  const parts = scopes.map(partsOf);
  const rows = await db.query(
    preparedSql<{ scope: WindowScope; windows: readonly Window[] }>("loadWindows")`
      SELECT w.over || ':' || w.name AS scope, w.windows
        FROM unnest(${parts.map(({ over }) => over)}::text[], ${parts.map(({ name }) => name)}::text[]) AS g (over, name)
        JOIN signalbox.start_window AS w ON w.over = g.over AND w.name = g.name
       WHERE w.windows <> '[]'::jsonb
    `,
  );
  return new Map(rows.map(({ scope, windows }) => [scope, windows]));
}

export function judgeStored(windows: readonly Window[], now: Date): WindowView {
  try {
    const judged = judgeWindows(windows, now);
    if (judged.kind === "open") return judged;
    return { kind: "closed", because: judged.because.kind, opensAt: judged.opensAt };
  } catch {
    // A time zone that this instance's Node does not know yet. Closed, for others to judge: the pass must go on.
    return { kind: "closed", because: "freeze", opensAt: null };
  }
}

export async function loadStops(
  db: Database,
  taskIds: readonly TaskId[],
): Promise<ReadonlyMap<TaskId, readonly StopView[]>> {
  if (taskIds.length === 0) return new Map();
  const rows = await db.query(
    preparedSql<StopView & { taskId: string }>("loadStops")`
      SELECT task_id AS "taskId", code, detail, since
        FROM signalbox.stop
       WHERE task_id = ANY (${taskIds}::uuid[])
       ORDER BY task_id, since, code
    `,
  );
  const stops = new Map<TaskId, StopView[]>();
  for (const { taskId, ...stop } of rows) {
    const id = asTaskId(taskId);
    stops.set(id, [...(stops.get(id) ?? []), stop]);
  }
  return stops;
}

/** What the live instances can run, and how many of it at once. */
export interface Served {
  readonly kinds: ReadonlySet<string>;
  readonly slots: number;
}

export async function loadServed(db: Database): Promise<Served> {
  const rows = await db.query(
    preparedSql<{ kinds: readonly string[]; slots: number }>("loadServed")`
      SELECT kinds, slots FROM signalbox.instance WHERE state = 'LIVE' AND expires_at > clock_timestamp()
    `,
  );
  return {
    kinds: new Set(rows.flatMap(({ kinds }) => kinds)),
    slots: rows.reduce((sum, { slots }) => sum + slots, 0),
  };
}
