/** Makes the whole answer of a route out of what the stream says of it. Pure. */

interface WholeChange {
  readonly topic: string;
  readonly at: string;
  readonly body: unknown;
}

/** Of a list: the order of its rows, and only those that are new or have changed on this connection. */
interface RowsChange {
  readonly topic: string;
  readonly at: string;
  readonly ids: readonly string[];
  readonly rows: readonly Row[];
  readonly next: string | null;
}

export type StreamChange = WholeChange | RowsChange;

type Row = Readonly<Record<string, unknown>>;

interface ListShape {
  readonly list: string;
  readonly id: string;
}

/** By the path of the route. */
const SHAPES: Readonly<Record<string, ListShape>> = {
  "task-runs": { list: "taskRuns", id: "taskRunId" },
  runs: { list: "runs", id: "runId" },
  operations: { list: "operations", id: "operationId" },
};

/** Null: it speaks of rows that were never sent, so only a fresh connection can tell. */
export function foldChange(before: unknown, change: StreamChange): unknown {
  if ("body" in change) return change.body;
  const shape = SHAPES[change.topic.split("?")[0] ?? ""];
  if (shape === undefined) return null;
  const known = new Map<string, Row>();
  for (const row of [...rowsOf(before, shape), ...change.rows]) known.set(String(row[shape.id]), row);
  const rows = change.ids.map((id) => known.get(id));
  if (rows.includes(undefined)) return null;
  return { [shape.list]: rows, next: change.next };
}

function rowsOf(body: unknown, { list }: ListShape): readonly Row[] {
  if (typeof body !== "object" || body === null) return [];
  const rows = (body as Record<string, unknown>)[list];
  return Array.isArray(rows) ? (rows as readonly Row[]) : [];
}
