import type { TaskRunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { findNewAndDue, loadCandidates, type WaitingCandidate } from "./candidates.ts";
import { parkBehindVersions } from "./park-behind.ts";

/** New task runs, and those whose run time has come. */
export interface Fresh {
  /** How many were found, also those that are no candidates any more. */
  readonly found: number;
  readonly candidates: readonly WaitingCandidate[];
}

/** Under the gate lock. */
export async function loadFresh(tx: Transaction, batchSize: number): Promise<Fresh> {
  const ids = await findNewAndDue(tx, batchSize);
  const parked = ids.length < batchSize ? NOBODY : await parkBehindVersions(tx, ids);
  const candidates = await loadCandidates(
    tx,
    ids.filter((id) => !parked.has(id)),
  );
  return { found: ids.length, candidates };
}

const NOBODY: ReadonlySet<TaskRunId> = new Set();
