/** What people put on some queues or resources, as a look at them shows. */

import type { RulesOn } from "../../domain/rules-on.ts";
import type { WindowScope } from "../../domain/scope.ts";
import { asGiven } from "../../domain/window-spec.ts";
import type { Transaction } from "../database.ts";
import { judgeStored, loadPauses, loadWindows } from "./load.ts";

/** Answers how to look them up: one that is not among `scopes` has none. */
export async function loadRulesOn(
  tx: Transaction,
  scopes: readonly WindowScope[],
  now: Date,
): Promise<(scope: WindowScope) => RulesOn> {
  const pauses = await loadPauses(tx, scopes);
  const windows = await loadWindows(tx, scopes);
  return (scope) => {
    const own = windows.get(scope) ?? [];
    return { paused: pauses.get(scope) ?? null, windows: own.map(asGiven), now: judgeStored(own, now) };
  };
}
