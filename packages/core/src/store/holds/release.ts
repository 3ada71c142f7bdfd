import type { TaskId, TaskRunId } from "../../domain/ids.ts";
import type { ResourceName } from "../../domain/resource.ts";
import type { LimitScope } from "../../domain/scope.ts";
import { type WakeKey, wakeResource } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { preparedSql, sql } from "../sql.ts";

/**
 * Gives back what task runs held, except what is kept for their tasks since a loss, unless these have ended.
 * Answers which gates this opens; the caller writes them as wakes in the same transaction.
 */
export async function releaseHolds(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
  endedTaskIds: readonly TaskId[],
): Promise<readonly WakeKey[]> {
  const kept = tx.query(
    preparedSql("keepReservedHolds")`
      UPDATE signalbox.hold
         SET task_run_id = NULL
       WHERE task_run_id = ANY (${taskRunIds}::uuid[])
         AND reserved_for IS NOT NULL AND reserved_for <> ALL (${endedTaskIds}::uuid[])
    `,
  );
  const freeing = tx.query(
    preparedSql<{ scope: string; slot: number }>("releaseHolds")`
      DELETE FROM signalbox.hold
       WHERE task_run_id = ANY (${taskRunIds}::uuid[]) OR reserved_for = ANY (${endedTaskIds}::uuid[])
      RETURNING scope, slot
    `,
  );
  const [, freed] = await Promise.all([kept, freeing]);
  const resources = freed
    .filter(({ scope }) => scope.startsWith("resource:"))
    .map(({ scope, slot }) => ({ name: scope.slice("resource:".length), slot }));
  await discountUse(tx, resources);
  // Runs, queues and keys are woken by the name of the scope itself.
  const limits = freed
    .filter(({ scope }) => !scope.startsWith("resource:"))
    .map(({ scope }) => scope as LimitScope);
  return [...limits, ...resources.map(({ name }) => wakeResource(name))];
}

/**
 * From now on the resources that lost attempts held alone are closed to all but their tasks: the lost
 * attempt may still be at work. It stays so until the task ends.
 */
export async function reserveHolds(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  if (taskRunIds.length === 0) return;
  await tx.query(
    sql("reserveHolds")`
      UPDATE signalbox.hold
         SET reserved_for = (SELECT task_id FROM signalbox.task_run WHERE task_run.id = hold.task_run_id)
       WHERE task_run_id = ANY (${taskRunIds}::uuid[]) AND slot = 0 AND scope LIKE 'resource:%'
    `,
  );
}

/** Somebody who knows that the lost attempt has ended says so. What an attempt holds at the moment, it keeps. */
export async function dropReserved(tx: Transaction, name: ResourceName): Promise<void> {
  await tx.query(
    sql("unmarkReserved")`
      UPDATE signalbox.hold SET reserved_for = NULL
       WHERE scope = 'resource:' || ${name} AND slot = 0 AND task_run_id IS NOT NULL
    `,
  );
  const freed = await tx.query(
    sql<{ slot: number }>("dropReserved")`
      DELETE FROM signalbox.hold
       WHERE scope = 'resource:' || ${name} AND slot = 0 AND reserved_for IS NOT NULL
      RETURNING slot
    `,
  );
  await discountUse(
    tx,
    freed.map(({ slot }) => ({ name, slot })),
  );
}

async function discountUse(
  tx: Transaction,
  freed: readonly { readonly name: string; readonly slot: number }[],
): Promise<void> {
  if (freed.length === 0) return;
  const names = [...new Set(freed.map(({ name }) => name))];
  const alone = freed.filter(({ slot }) => slot === 0).map(({ name }) => name);
  const together = freed.filter(({ slot }) => slot > 0).map(({ name }) => name);
  // In name order first, like every other writer of these rows: no deadlock.
  const locked = tx.query(
    preparedSql("lockResourceUse")`
      SELECT FROM signalbox.resource_use WHERE name = ANY (${names}::text[]) ORDER BY name FOR NO KEY UPDATE
    `,
  );
  const discounts: Promise<unknown>[] = [];
  if (alone.length > 0) {
    const discount = preparedSql("discountExclusiveUse")`
      UPDATE signalbox.resource_use SET exclusive = exclusive - 1 WHERE name = ANY (${alone}::text[])
    `;
    discounts.push(tx.query(discount));
  }
  if (together.length > 0) {
    const discount = preparedSql("discountSharedUse")`
      UPDATE signalbox.resource_use
         SET shared = shared - cardinality(array_positions(${together}::text[], name))
       WHERE name = ANY (${together}::text[])
    `;
    discounts.push(tx.query(discount));
  }
  await Promise.all([locked, ...discounts]);
}
