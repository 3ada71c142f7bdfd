/** What tasks take of memory that are at work and do nothing: processes, and handlers. */

import { entryOf, faultsOf, inTurn, type Scenario } from "../bench.ts";
import type { Figure } from "../figure.ts";
import { type MemoryRound, measureMemory } from "../measure-memory.ts";
import { median } from "../statistics.ts";

/** As many as a machine has processes for, where there is time to start them. */
const PROCESSES = 200;
const PROCESSES_IN_FULL = 2_000;
const HANDLERS = 500;

export const memory: Scenario = async (bench) => {
  const sleepers = { ...entryOf("signalboxSleepers"), many: bench.full ? PROCESSES_IN_FULL : PROCESSES };
  const waiters = { ...entryOf("signalboxWaiters"), many: HANDLERS };
  // It hardly differs from round to round: one is enough where time is short.
  const roundsOf = await inTurn(
    { ...bench, rounds: bench.full ? bench.rounds : 1 },
    [sleepers, waiters],
    async ({ contestant, many }, database) => await measureMemory(database, contestant, many),
  );
  const growthKb = (rounds: readonly MemoryRound[]): number =>
    median(rounds.map(({ withOneKb, withManyKb }) => withManyKb - withOneKb));
  return [
    {
      scenario: "memory of instance and warden for each idle process",
      contestant: sleepers.title,
      unit: "KB",
      value: growthKb(roundsOf(sleepers)) / (sleepers.many - 1),
      ratio: null,
      bar: null,
      notes: [beside(roundsOf(sleepers), sleepers.many)],
      faults: faultsOf(roundsOf(sleepers)),
    },
    {
      scenario: "memory that 500 tasks at once add to an instance",
      contestant: waiters.title,
      unit: "MB",
      value: growthKb(roundsOf(waiters)) / 1_024,
      ratio: null,
      bar: { atMost: 10 },
      notes: [beside(roundsOf(waiters), waiters.many)],
      faults: faultsOf(roundsOf(waiters)),
    },
  ] satisfies readonly Figure[];
};

function beside(rounds: readonly MemoryRound[], many: number): string {
  const mb = (kb: readonly number[]): string => (median(kb) / 1_024).toFixed(0);
  const withOne = mb(rounds.map(({ withOneKb }) => withOneKb));
  const withMany = mb(rounds.map(({ withManyKb }) => withManyKb));
  return `${withOne} MB beside one, ${withMany} MB beside ${many.toLocaleString("en")}, resident`;
}
