/** What a watcher has to be told, by what it was told before. Pure. */

import type { StreamBody, StreamRows } from "@signalbox/contract";
import type { RowsOf, Topic } from "./topic.ts";

/** One answer of a topic. */
export interface Reading {
  readonly at: string;
  /** As the route sent it. */
  readonly text: string;
}

/** What one connection knows of a topic. */
export interface Known {
  readonly text: string;
  /** By id; empty where the topic is no list of such rows. */
  readonly rows: ReadonlyMap<string, KnownRow>;
}

interface KnownRow {
  readonly version: number;
  readonly text: string;
}

export interface Change {
  readonly known: Known;
  /** Null: nothing that it would not know. */
  readonly event: StreamBody | StreamRows | null;
}

const NO_ROWS: ReadonlyMap<string, KnownRow> = new Map();

export function changeOf(topic: Topic, { at, text }: Reading, known: Known | null): Change {
  if (known !== null && sameButForClock(known.text, text)) return { known, event: null };
  const body: unknown = JSON.parse(text);
  const page = topic.rows === null ? null : pageOf(body, topic.rows);
  if (page === null) {
    return { known: { text, rows: NO_ROWS }, event: { topic: topic.name, at, body } };
  }
  const before = known?.rows ?? NO_ROWS;
  const rows = new Map(page.rows.map(({ id, row }) => [id, knownRow(row)]));
  const newer = page.rows.filter(({ id }) => isNews(rows.get(id), before.get(id)));
  return {
    known: { text, rows },
    event: {
      topic: topic.name,
      at,
      ids: page.rows.map(({ id }) => id),
      rows: newer.map(({ row }) => row),
      next: page.next,
    },
  };
}

function knownRow(row: Row): KnownRow {
  return { version: row.rowVersion, text: JSON.stringify(row) };
}

/** A waiting task run is parked under another gate without a new version: what is as old may say more. */
function isNews(now: KnownRow | undefined, before: KnownRow | undefined): boolean {
  if (now === undefined || before === undefined) return true;
  return now.version > before.version || (now.version === before.version && now.text !== before.text);
}

/** When it was computed is different each time, and says nothing by itself. */
const CLOCK = /"computedAt":"[^"]*"/;

function sameButForClock(before: string, now: string): boolean {
  return before === now || before.replace(CLOCK, "") === now.replace(CLOCK, "");
}

type Row = StreamRows["rows"][number];

interface Page {
  readonly rows: readonly { readonly id: string; readonly row: Row }[];
  readonly next: string | null;
}

function pageOf(body: unknown, { member, id }: RowsOf): Page | null {
  if (!isRecord(body)) return null;
  const { [member]: rows, next } = body;
  if (!Array.isArray(rows)) return null;
  const known = rows.filter(isRow).flatMap((row) => {
    const { [id]: rowId } = row;
    return typeof rowId === "string" ? [{ id: rowId, row }] : [];
  });
  return { rows: known, next: typeof next === "string" ? next : null };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isRow(value: unknown): value is Row {
  return isRecord(value) && typeof value["rowVersion"] === "number";
}
