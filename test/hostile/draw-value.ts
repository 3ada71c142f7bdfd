/** Values as a schema has them, with something hostile in the place of some of them. */

import type { JsonSchema } from "../../packages/server/src/http/openapi.ts";
import type { Random } from "../ha/random.ts";
import { PATH_TEXTS } from "./path-texts.ts";
import { SCRIPT_TEXTS } from "./script-texts.ts";
import { SQL_TEXTS } from "./sql-texts.ts";

export interface DrawSetup {
  /** Texts that lead on: ids that are there, kinds that are known, names that others use. */
  readonly known: readonly string[];
  /** How many of the values are hostile, in [0, 1]: one that is all wrong is refused for the first of them. */
  readonly hostility: number;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  ".",
  "..",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202egnp.exe",
  "\u001b[2J",
  "\r\nset-cookie: a=b",
  "\u2028",
  "0",
  "-1",
  "1e9",
  "NaN",
  "true",
  "null",
  "[]",
  "{}",
  "019a8c3e-5d21-7abc-8def-000000000001",
  "019a8c3e",
  "2026-02-30T25:61:00Z",
  "9999999-01-01T00:00:00Z",
  "x".repeat(300),
  "x".repeat(70_000),
  "é".repeat(200),
  "𝕏".repeat(100),
];
const ODD_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  1,
  2,
  0.5,
  1e9,
  2_147_483_648,
  -2_147_483_649,
  2 ** 53,
  1e308,
  -1e308,
  5e-324,
];

export function drawText(random: Random, { known, hostility }: DrawSetup): string {
  if (!random.chance(hostility)) return random.pick(known);
  return random.pick(random.pick([SQL_TEXTS, SCRIPT_TEXTS, PATH_TEXTS, ODD_TEXTS, ODD_TEXTS]));
}

/** Of any type. */
function drawAnything(random: Random, setup: DrawSetup, depth = 0): unknown {
  const one = random.between(0, depth > 3 ? 3 : 6);
  if (one === 0) return random.pick(ODD_NUMBERS);
  if (one === 1) return random.pick([true, false, null]);
  if (one < 4) return drawText(random, setup);
  const length = random.between(0, 4);
  const items = Array.from({ length }, () => drawAnything(random, setup, depth + 1));
  if (one < 6) return items;
  return Object.fromEntries(items.map((item) => [drawText(random, setup).slice(0, 200), item]));
}

export function drawValue(random: Random, schema: JsonSchema, setup: DrawSetup): unknown {
  if (random.chance(0.1 * setup.hostility)) return drawAnything(random, setup);
  const { $ref, anyOf, oneOf, enum: choices, const: only } = schema;
  if (typeof $ref === "string") return drawValue(random, schemaAt($ref, setup), setup);
  const either = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  if (either !== undefined) return drawValue(random, random.pick(either), setup);
  if (only !== undefined) return only;
  if (choices !== undefined) return random.pick(choices as readonly unknown[]);
  return drawTyped(random, schema, setup);
}

function drawTyped(random: Random, schema: JsonSchema, setup: DrawSetup): unknown {
  switch (schema["type"]) {
    case "object":
      return drawObject(random, schema, setup);
    case "array": {
      const items = (schema["items"] ?? {}) as JsonSchema;
      return Array.from({ length: random.between(0, 3) }, () => drawValue(random, items, setup));
    }
    case "string":
      return drawString(random, schema, setup);
    case "number":
    case "integer":
      return random.chance(setup.hostility) ? random.pick(ODD_NUMBERS) : random.between(1, 9);
    case "boolean":
      return random.chance(0.5);
    default:
      return drawAnything(random, setup);
  }
}

function drawObject(random: Random, schema: JsonSchema, setup: DrawSetup): unknown {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  const drawn = Object.entries(properties)
    .filter(([name]) => random.chance(required.includes(name) ? 0.98 : 0.3))
    .map(([name, property]) => [name, drawValue(random, property, setup)]);
  if (random.chance(0.1 * setup.hostility)) drawn.push([drawText(random, setup), 1]);
  return Object.fromEntries(drawn);
}

function drawString(random: Random, schema: JsonSchema, setup: DrawSetup): string {
  const { format } = schema;
  if (format === "date-time" && !random.chance(setup.hostility)) return "2126-11-16T12:00:00Z";
  return drawText(random, setup);
}

function schemaAt(ref: string, { schemas }: DrawSetup): JsonSchema {
  const schema = schemas[ref.split("/").at(-1) ?? ""];
  if (schema === undefined) throw new Error(`There is no ${ref}`);
  return schema;
}
