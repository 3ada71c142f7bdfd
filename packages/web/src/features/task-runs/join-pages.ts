/** Makes one list of a first page that moves and of older ones that were read a while ago. Pure. */

export interface Identified {
  readonly taskRunId: string;
}

export interface Page<Row extends Identified> {
  readonly taskRuns: readonly Row[];
  /** Null: it is the last one. */
  readonly next: string | null;
}

/** What was on the first page and is behind its end now. */
export interface Fallen<Row extends Identified> {
  readonly rows: readonly Row[];
  /** So many came at once that some below this id were never seen: only reading from there on can tell. */
  readonly unseenBelow: string | null;
}

/** What was read behind the first page, and from where on. */
export interface Older<Row extends Identified> {
  readonly from: string;
  readonly rows: readonly Row[];
}

export const NOTHING_FALLEN: Fallen<never> = { rows: [], unseenBelow: null };

/** What falls when another first page comes. Ids begin with the time, and the newest are first. */
export function fallBehind<Row extends Identified>(
  fallen: Fallen<Row>,
  before: Page<Row>,
  now: Page<Row>,
  from: string,
): Fallen<Row> {
  const end = endOf(now);
  if (end === null) return NOTHING_FALLEN;
  const known = distinct([...before.taskRuns, ...fallen.rows]);
  const newest = before.taskRuns[0]?.taskRunId;
  return {
    rows: known.filter(({ taskRunId }) => taskRunId < end && taskRunId >= from),
    unseenBelow: newest !== undefined && newest < end ? end : fallen.unseenBelow,
  };
}

/** Whether rows are missing between the first page and the older ones, if there are any. */
export function hasHole<Row extends Identified>(
  { unseenBelow }: Fallen<Row>,
  from: string | undefined,
): boolean {
  return unseenBelow !== null && from !== undefined && from < unseenBelow;
}

export function joinPages<Row extends Identified>(
  first: Page<Row>,
  fallen: Fallen<Row>,
  older: Older<Row> | undefined,
): readonly Row[] {
  const end = endOf(first);
  if (end === null || older === undefined) return first.taskRuns;
  const between = fallen.rows.filter(({ taskRunId }) => taskRunId < end && taskRunId >= older.from);
  const behind = older.rows.filter(({ taskRunId }) => taskRunId < end);
  return distinct([...first.taskRuns, ...between, ...behind]);
}

/** The id of its last row; null where nothing comes behind it. */
function endOf<Row extends Identified>({ taskRuns, next }: Page<Row>): string | null {
  return next === null ? null : (taskRuns.at(-1)?.taskRunId ?? null);
}

function distinct<Row extends Identified>(rows: readonly Row[]): readonly Row[] {
  const seen = new Set<string>();
  return rows.filter(({ taskRunId }) => !seen.has(taskRunId) && seen.add(taskRunId));
}
