/** Answers which rules are in force. */

import { requireWithin } from "../domain/filter.ts";
import { requireOptions } from "../domain/require-shape.ts";
import type { RulesInForce } from "../domain/rules-in-force.ts";
import type { Pool } from "../store/database.ts";
import { readRules } from "../store/rules/read.ts";
import { READ_RULES_OPTIONS } from "./argument-shapes.ts";
import type { Scheduler } from "./scheduler-face.ts";

const DEFAULT_RULES = 1_000;
const MOST_RULES = 100_000;

export function ruleReader(pool: Pool): Pick<Scheduler, "readRules"> {
  return {
    readRules: async (options) => {
      requireOptions("INVALID_ARGUMENT", options, READ_RULES_OPTIONS);
      const limit = options?.limit ?? DEFAULT_RULES;
      requireWithin("limit", limit, 1, MOST_RULES);
      return await readRulesOnce(pool, limit);
    },
  };
}

export async function readRulesOnce(pool: Pool, limit: number): Promise<RulesInForce> {
  return await pool.snapshot(async (tx) => await readRules(tx, limit));
}
