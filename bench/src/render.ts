/** The figures as tables of Markdown, for the terminal and for the pages that show them. */

import { barText, type CostsPerTask, type Figure, verdictOf } from "./figure.ts";

const HEAD = ["what", "who", "value", "beside", "bar", ""];
const COSTS_HEAD = ["who", "server, µs", "Node, µs", "WAL, bytes", "statements"];

export function render(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.scenario,
    figure.contestant,
    `${shown(figure.value)} ${figure.unit}`,
    figure.ratio === null ? "" : `${figure.ratio.value.toFixed(2)} × ${figure.ratio.to}`,
    barText(figure.bar),
    verdictText(figure),
  ]);
  const notes = figures.flatMap(({ scenario, contestant, notes }) =>
    notes.map((note) => `- ${scenario}, ${contestant}: ${note}`),
  );
  return [table(HEAD, rows), ...costsTable(figures), notes.join("\n")]
    .filter((part) => part !== "")
    .join("\n\n");
}

function costsTable(figures: readonly Figure[]): readonly string[] {
  const rows = figures.flatMap(({ contestant, costs, faults }) => {
    if (costs === undefined) return [];
    const cell = (of: (part: CostsPerTask) => number, digits: number): string => {
      const [enqueue, work] = [of(costs.enqueue), of(costs.work)];
      return `${(enqueue + work).toFixed(digits)} (${enqueue.toFixed(digits)} + ${work.toFixed(digits)})`;
    };
    return [
      [
        faults.length === 0 ? contestant : `${contestant} (void)`,
        cell(({ serverCpuUs }) => serverCpuUs, 0),
        cell(({ nodeCpuUs }) => nodeCpuUs, 0),
        cell(({ walBytes }) => walBytes, 0),
        cell(({ statements }) => statements, 3),
      ],
    ];
  });
  if (rows.length === 0) return [];
  return [
    "What one task that does nothing costs over its life (to enqueue it in bulk + from its claim until its end is recorded):",
    table(COSTS_HEAD, rows),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

function verdictText(figure: Figure): string {
  const verdict = verdictOf(figure) ?? "";
  return verdict === "void" ? `void: ${figure.faults.join(", ")}` : verdict;
}

function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value.toFixed(value < 10 ? 2 : 1);
}
