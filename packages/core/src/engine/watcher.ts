/** Looks at the database for what slows everybody down: it is told, and nothing is done about it. */

import type { Database } from "../store/database.ts";
import { readDatabaseState } from "../store/database-state.ts";
import type { Emit } from "./telemetry.ts";

/** While a transaction is open, no row that died after its begin can be cleaned up. */
const OVERLONG_MS = 300_000;

export async function watchOnce({ db, emit }: { readonly db: Database; readonly emit: Emit }): Promise<void> {
  const state = await readDatabaseState(db);
  const overlong = (state.oldestTransaction?.openMs ?? 0) > OVERLONG_MS;
  emit({ type: "database.watched", ...state, overlong });
}
