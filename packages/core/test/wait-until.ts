import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";

/** Far more than anything takes: only a test that would fail anyway waits as long. */
const DEADLINE_MS = 15_000;

/** Asks again and again until the answer is yes. `what` names the condition if it never is. */
export async function waitUntil(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAt = performance.now() + DEADLINE_MS;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`Waited in vain until ${what}`);
    await wait(3);
  }
}

/** Whether a connection of this application waits for a lock that another one has. */
async function isBlocked(looker: pg.Client, applicationName: string): Promise<boolean> {
  const { rowCount } = await looker.query(
    `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = $1 AND cardinality(pg_blocking_pids(pid)) > 0`,
    [applicationName],
  );
  return rowCount !== null && rowCount > 0;
}

export async function waitUntilBlocked(looker: pg.Client, applicationName: string): Promise<void> {
  await waitUntil(`${applicationName} is blocked`, async () => await isBlocked(looker, applicationName));
}

/** Whether it has ended or stands before a lock: it will not get further by itself. */
export async function waitUntilBlockedOrDone(
  looker: pg.Client,
  applicationName: string,
  act: Promise<unknown>,
): Promise<void> {
  let done = false;
  const end = (): void => {
    done = true;
  };
  void act.then(end, end);
  await waitUntil(
    `${applicationName} is blocked or done`,
    async () => done || (await isBlocked(looker, applicationName)),
  );
}
