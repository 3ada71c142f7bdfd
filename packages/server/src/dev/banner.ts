/** What `dev` says about itself, line by line, as it becomes known. */

import type { Look } from "../render/look.ts";
import { lengthText } from "../render/time.ts";
import { VERSION } from "../version.ts";

const LABEL_WIDTH = 12;

export function titleLine(look: Look): string {
  return look.colors.bold(`signalbox ${VERSION} dev`);
}

export function factLine(label: string, text: string, look: Look): string {
  return `  ${look.colors.dim(label.padEnd(LABEL_WIDTH))}${text}`;
}

export function schemaText(applied: readonly string[], tookMs: number): string {
  if (applied.length === 0) return "up to date";
  const count = applied.length === 1 ? "1 migration" : `${applied.length} migrations`;
  return `${count} applied in ${lengthText(tookMs)}`;
}

/** As `dev` prints them. */
export interface Places {
  readonly dashboard: string;
  readonly api: string;
}

export function placeLines({ dashboard, api }: Places, look: Look): readonly string[] {
  return [factLine("Dashboard", dashboard, look), factLine("API", api, look)];
}

/** Null: there is no build of it. */
export function dashboardText(url: string | null): string {
  return url ?? "not built here: npm run build";
}

export function apiText(url: string, wantedPort: number, port: number): string {
  const moved = port === wantedPort ? "" : `  (port ${wantedPort} is taken)`;
  return `${url}/api/v1${moved}`;
}

export function tryLines(look: Look): readonly string[] {
  return [
    factLine("Try", "npx signalbox why          what is waiting and why", look),
    factLine("", "npx signalbox top          what moves, as it moves", look),
  ];
}

export function keysLine(look: Look): string {
  const keys = [
    ["k", "kill an instance"],
    ["f", "freeze one"],
    ["a", "add one"],
    ["q", "quit"],
  ] as const;
  return `  ${keys.map(([key, does]) => `${look.colors.bold(key)} ${does}`).join("   ")}`;
}
