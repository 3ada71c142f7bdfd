/** Answers in the form that was asked for. Only data: what is said beside it is a note. */

import { type Column, renderTable } from "../render/table.ts";
import { UsageError } from "../usage-error.ts";
import type { Output } from "./output.ts";
import { type FormatOptions, formatOf, type ListOptions } from "./shared-options.ts";

export interface Listing<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** For `-o name`: what other commands take. */
  readonly nameOf: (row: Row) => string;
  /** Said beside an empty table. */
  readonly empty: string;
}

export function printList<Row extends object>(
  listing: Listing<Row>,
  options: ListOptions,
  output: Output,
): void {
  for (const line of listLines(listing, options)) output.data(line);
  if (listing.rows.length === 0 && isTable(options)) output.note(listing.empty);
}

export function listLines<Row extends object>(
  { rows, columns, nameOf }: Listing<Row>,
  options: ListOptions,
): readonly string[] {
  const format = formatOf(options);
  switch (format) {
    case "json":
      return [JSON.stringify(rows.map((row) => picked(row, options.fields)))];
    case "jsonl":
      return rows.map((row) => JSON.stringify(picked(row, options.fields)));
    case "name":
      return rows.map(nameOf);
    case "table":
    case "wide": {
      const shown = shownColumns(columns, options, format === "wide");
      if (rows.length === 0) return [];
      return renderTable(
        shown.map(({ name }) => name.toUpperCase()),
        rows.map((row) => shown.map(({ text }) => text(row))),
      );
    }
  }
}

/** One thing: its lines for people, itself for programs. */
export function printOne<Thing extends object>(
  thing: Thing,
  shown: { readonly name: string; readonly lines: () => readonly string[] },
  { options, output }: { readonly options: FormatOptions; readonly output: Output },
): void {
  const format = formatOf(options);
  if (format === "json" || format === "jsonl") {
    return output.data(JSON.stringify(picked(thing, options.fields)));
  }
  if (format === "name") return output.data(shown.name);
  for (const line of shown.lines()) output.data(line);
}

export function isTable(options: FormatOptions): boolean {
  const format = formatOf(options);
  return format === "table" || format === "wide";
}

function shownColumns<Row>(
  columns: readonly Column<Row>[],
  { columns: wanted }: ListOptions,
  wide: boolean,
): readonly Column<Row>[] {
  if (wanted === undefined) return columns.filter((column) => wide || column.wide !== true);
  return wanted.map((name) => {
    const column = columns.find((each) => each.name === name.toLowerCase());
    if (column !== undefined) return column;
    const known = columns.map((each) => each.name).join(", ");
    throw new UsageError(`There is no column "${name}"; there are ${known}`);
  });
}

function picked(row: object, fields: readonly string[] | undefined): unknown {
  if (fields === undefined) return row;
  return Object.fromEntries(
    fields.map((field) => {
      if (Object.hasOwn(row, field)) return [field, (row as Record<string, unknown>)[field]];
      throw new UsageError(`There is no field "${field}"; there are ${Object.keys(row).join(", ")}`);
    }),
  );
}
