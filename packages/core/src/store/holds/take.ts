import type { Promotion } from "../../domain/admission.ts";
import type { TaskRunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { preparedSql, sql } from "../sql.ts";

/**
 * Writes what admitted task runs hold. Two promoters that both thought a slot was free cannot both get
 * here: the primary key of `hold` and the CHECK of `resource_use` refuse the second, whatever the code does.
 */
export async function takeHolds(tx: Transaction, promotions: readonly Promotion[]): Promise<void> {
  const taken = promotions.flatMap(slotsOf);
  const anew = taken.filter(({ wasReserved }) => !wasReserved);
  await Promise.all([
    takeAnew(tx, anew),
    takeReserved(
      tx,
      taken.filter(({ wasReserved }) => wasReserved),
    ),
    // After the holds, as whoever gives them back does it.
    countUse(tx, anew),
  ]);
}

async function takeAnew(tx: Transaction, taken: readonly TakenSlot[]): Promise<void> {
  if (taken.length === 0) return;
  await tx.query(
    preparedSql("takeHolds")`
      INSERT INTO signalbox.hold (scope, slot, task_run_id)
      SELECT scope, slot, task_run_id
        FROM unnest(${taken.map(({ scope }) => scope)}::text[],
                    ${taken.map(({ slot }) => slot)}::integer[],
                    ${taken.map(({ taskRunId }) => taskRunId)}::uuid[]) AS g (scope, slot, task_run_id)
    `,
  );
}

interface TakenSlot {
  readonly scope: string;
  readonly slot: number;
  readonly taskRunId: TaskRunId;
  readonly resource: string | null;
  readonly wasReserved: boolean;
}

function slotsOf({ taskRunId, limitSlots, resourceSlots }: Promotion): readonly TakenSlot[] {
  const ofResources = resourceSlots.map(({ name, slot, wasReserved }) => ({
    scope: `resource:${name}`,
    slot,
    taskRunId,
    resource: name,
    wasReserved,
  }));
  const ofLimits = limitSlots.map(({ scope, slot }) => ({
    scope,
    slot,
    taskRunId,
    resource: null,
    wasReserved: false,
  }));
  return [...ofLimits, ...ofResources];
}

async function countUse(tx: Transaction, taken: readonly TakenSlot[]): Promise<void> {
  const used = taken.flatMap(({ resource, slot }) => (resource === null ? [] : [{ resource, slot }]));
  if (used.length === 0) return;
  // In name order, like every other writer of these rows: no deadlock.
  await tx.query(
    preparedSql("countResourceUse")`
      INSERT INTO signalbox.resource_use AS u (name, exclusive, shared)
      SELECT name, count(*) FILTER (WHERE slot = 0), count(*) FILTER (WHERE slot > 0)
        FROM unnest(${used.map(({ resource }) => resource)}::text[],
                    ${used.map(({ slot }) => slot)}::integer[]) AS g (name, slot)
       GROUP BY name
       ORDER BY name
          ON CONFLICT (name) DO UPDATE
         SET exclusive = u.exclusive + excluded.exclusive, shared = u.shared + excluded.shared
    `,
  );
}

async function takeReserved(tx: Transaction, taken: readonly TakenSlot[]): Promise<void> {
  if (taken.length === 0) return;
  const rows = await tx.query(
    sql("takeReservedHolds")`
      UPDATE signalbox.hold
         SET task_run_id = g.task_run_id, since = clock_timestamp()     -- still kept for the task, until it ends
        FROM unnest(${taken.map(({ scope }) => scope)}::text[],
                    ${taken.map(({ slot }) => slot)}::integer[],
                    ${taken.map(({ taskRunId }) => taskRunId)}::uuid[]) AS g (scope, slot, task_run_id)
       WHERE hold.scope = g.scope AND hold.slot = g.slot
         AND hold.reserved_for IS NOT NULL AND hold.task_run_id IS NULL
      RETURNING hold.scope
    `,
  );
  // Somebody released it meanwhile: nothing is written, and the next pass decides anew.
  if (rows.length !== taken.length) throw new Error("A reserved hold was released while it was taken over");
}
