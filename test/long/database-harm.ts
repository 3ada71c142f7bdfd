/** Faults of the database's sessions. */

import { type Fault, tried } from "../ha/nemesis.ts";
import type { Rig } from "../ha/rig.ts";

/** The instances' pools. The client and those who look on would only count it as a mistake of their own. */
const INSTANCES = "datname = current_database() AND application_name LIKE 'signalbox instance-%'";
const OURS = "datname = current_database() AND application_name LIKE 'signalbox%'";

export const CUT_ALL: Fault = [
  "all sessions cut off",
  async (rig) => await toSessions(rig, "pg_terminate_backend", OURS),
];

export const CUT_LISTENERS: Fault = [
  "listeners cut off",
  async (rig) => await toSessions(rig, "pg_terminate_backend", "application_name = 'signalbox listener'"),
];

export const CUT_LEASES: Fault = [
  "lease connections cut off",
  async (rig) => await toSessions(rig, "pg_terminate_backend", "application_name = 'signalbox lease'"),
];

export const CANCEL_STATEMENTS: Fault = [
  "statements canceled",
  async (rig, random) => {
    let canceled = 0;
    // Statements are short: one look finds few of them.
    for (let looks = 0; looks < 20; looks += 1) {
      if (
        await toSessions(
          rig,
          "pg_cancel_backend",
          `${INSTANCES} AND state = 'active' AND random() < ${random.next()}`,
        )
      )
        canceled += 1;
    }
    return canceled > 0;
  },
];

async function toSessions(
  { db }: Rig,
  act: "pg_terminate_backend" | "pg_cancel_backend",
  which: string,
): Promise<boolean> {
  const done = await tried(
    db.query(`SELECT ${act}(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ${which}`),
  );
  return (done?.rowCount ?? 0) > 0;
}
