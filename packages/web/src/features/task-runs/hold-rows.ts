/** Keeps rows from moving under the pointer. Pure. */

export interface Identified {
  readonly taskRunId: string;
}

export interface HeldRows<Row extends Identified> {
  readonly shown: readonly Row[];
  /** How many wait until the reader asks for them: on top, or between others where they were committed late. */
  readonly newer: number;
}

/**
 * While the reader is at work on the list, what is shown stays where it is: new rows wait, rows that do not match any
 * more stay in place. Older ones may follow at the end, where nobody looks yet.
 */
export function holdRows<Row extends Identified>(
  shown: readonly Row[],
  incoming: readonly Row[],
  engaged: boolean,
): HeldRows<Row> {
  const [first] = shown;
  if (!engaged || first === undefined) return { shown: incoming, newer: 0 };
  const current = new Map(incoming.map((row) => [row.taskRunId, row]));
  const held = shown.map((row) => current.get(row.taskRunId) ?? row);
  const last = shown.at(-1)?.taskRunId ?? "";
  // Ids begin with the time: a larger one came later.
  const older = incoming.filter(({ taskRunId }) => taskRunId < last);
  const known = new Set(shown.map(({ taskRunId }) => taskRunId));
  const newer = incoming.filter(({ taskRunId }) => taskRunId > last && !known.has(taskRunId)).length;
  return { shown: [...held, ...older], newer };
}
