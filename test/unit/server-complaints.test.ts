import { expect, it } from "vitest";
import { complaintsIn } from "../ha/server-complaints.ts";

const LOG = `2026-11-17 14:56:06.352 UTC [7] signalbox client LOG:  process 7 still waiting for ExclusiveLock on advisory lock [5,0,9,1] after 1000.083 ms
2026-11-17 14:56:06.352 UTC [7] signalbox client DETAIL:  Process holding the lock: 8. Wait queue: 7.
2026-11-17 14:56:06.352 UTC [7] signalbox client STATEMENT:  
	      SELECT pg_advisory_xact_lock($1)
2026-11-17 14:56:07.001 UTC [3] LOG:  checkpoint starting: time
2026-11-17 14:56:14.000 UTC [7] signalbox client ERROR:  canceling statement due to statement timeout
2026-11-17 14:56:15.000 UTC [9] signalbox client ERROR:  duplicate key value violates unique constraint
`;

it("tells what waited for whom and what was ended, each in one line", () => {
  expect(complaintsIn(LOG).map((each) => each.slice(28))).toEqual([
    "[7] signalbox client LOG: process 7 still waiting for ExclusiveLock on advisory lock [5,0,9,1] after 1000.083 ms 2026-11-17 14:56:06.352 UTC [7] signalbox client DETAIL: Process holding the lock: 8. Wait queue: 7. 2026-11-17 14:56:06.352 UTC [7] signalbox client STATEMENT: SELECT pg_advisory_xact_lock($1)",
    "[7] signalbox client ERROR: canceling statement due to statement timeout",
  ]);
});
