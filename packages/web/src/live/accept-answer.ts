/**
 * The one gate through which rows enter the cache, whether a request or the stream brought them. A row never goes
 * back in time: what is older than what this page has seen of a task run gives way to it.
 */

interface Versioned {
  readonly rowVersion: number;
}

const ID_FIELDS = ["taskRunId", "runId", "operationId"] as const;
/** So many rows are remembered; those that came first are forgotten first. */
const REMEMBERED = 20_000;

export type AcceptAnswer = (body: unknown) => unknown;

/** Of answers that tell it. Another one: a standby was promoted, and commits of the old primary may be lost. */
export function timelineIn(body: unknown): number | null {
  if (!isObject(body)) return null;
  const { timeline } = body;
  return typeof timeline === "number" ? timeline : null;
}

export function createAcceptance(): AcceptAnswer {
  const newest = new Map<string, Versioned>();
  let timeline: number | null = null;

  const acceptRow = (row: Versioned, id: string): Versioned => {
    const known = newest.get(id);
    // The same version is taken: where a task run is parked changes without it.
    if (known !== undefined && known.rowVersion > row.rowVersion) return { ...row, ...known };
    newest.delete(id);
    newest.set(id, row);
    for (const oldest of newest.keys()) {
      if (newest.size <= REMEMBERED) break;
      newest.delete(oldest);
    }
    return row;
  };

  const accept = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(accept);
    if (!isObject(value)) return value;
    if (isVersioned(value)) {
      const id = idOf(value);
      if (id !== null) return acceptRow(value, id);
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, Array.isArray(member) ? accept(member) : member]),
    );
  };
  return (body) => {
    const told = timelineIn(body);
    // Versions of rows are of one timeline: on another one a smaller version may be the newer one.
    if (told !== null && timeline !== null && told !== timeline) newest.clear();
    timeline = told ?? timeline;
    return accept(body);
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isVersioned(
  value: Readonly<Record<string, unknown>>,
): value is Versioned & Readonly<Record<string, unknown>> {
  return typeof value["rowVersion"] === "number";
}

function idOf(row: Readonly<Record<string, unknown>>): string | null {
  const field = ID_FIELDS.find((name) => typeof row[name] === "string");
  return field === undefined ? null : String(row[field]);
}
