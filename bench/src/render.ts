/** The figures as a table of Markdown, for the terminal and for the pages that show it. */

import { type Figure, meets } from "./figure.ts";

const HEAD = ["what", "who", "value", "beside", "bar", ""];

export function render(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.scenario,
    figure.contestant,
    `${shown(figure.value)} ${figure.unit}`,
    figure.ratio === null ? "" : `${figure.ratio.value.toFixed(2)} × ${figure.ratio.to}`,
    barText(figure),
    verdict(figure),
  ]);
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  const notes = figures.flatMap(({ scenario, contestant, notes }) =>
    notes.map((note) => `- ${scenario}, ${contestant}: ${note}`),
  );
  return [line(HEAD), rule, ...rows.map(line), "", ...notes].join("\n");
}

function barText({ bar }: Figure): string {
  if (bar === null) return "";
  return "atLeast" in bar ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`;
}

function verdict(figure: Figure): string {
  if (figure.faults.length > 0) return `void: ${figure.faults.join(", ")}`;
  const met = meets(figure);
  if (met === null) return "";
  return met ? "met" : "missed";
}

function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value.toFixed(value < 10 ? 2 : 1);
}
