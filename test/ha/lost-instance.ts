/** An instance that was lost in the middle of its work, without a process: a row, a lease that runs out, and a claim. */

import type { TaskSpec } from "@signalbox/core";
import { asInstanceId } from "../../packages/core/src/domain/ids.ts";
import { joinTransaction } from "../../packages/core/src/store/database.ts";
import { keepHandle } from "../../packages/core/src/store/outside-jobs/let-go.ts";
import { claimTaskRuns } from "../../packages/core/src/store/task-runs/claim.ts";
import type { OutsideInput, WorkInput } from "./instance-messages.ts";
import { openTransaction } from "./open-transaction.ts";
import type { Station } from "./turning.ts";

const LEASE_MS = 200;
const DEADLINE_MS = 60_000;

/** Somebody rescues what it had. False: another claimed in its name. */
export async function loseWork(station: Station): Promise<boolean> {
  const input: WorkInput = { ms: 10 };
  return await lose(station, { kind: "unseen", input }, null);
}

/** Others go on from its handle. */
export async function loseOutsideJob(station: Station): Promise<boolean> {
  const job = { polls: 1, pollInMs: 50 };
  const input: OutsideInput = { ...job, ms: 10, deadlineInMs: DEADLINE_MS };
  return await lose(station, { kind: "outside", input, onLost: "resume", priority: 0 }, job);
}

async function lose(
  { databaseUrl, scheduler }: Station,
  spec: TaskSpec,
  job: object | null,
): Promise<boolean> {
  const client = await openTransaction(databaseUrl);
  try {
    const { rows } = await client.query<{ bootId: string }>(
      `INSERT INTO signalbox.instance (boot_id, name, kinds, slots, expires_at, timeline)
       VALUES (gen_random_uuid(), 'gone on purpose', $1, 1, clock_timestamp() + $2 * interval '1 ms',
               signalbox.current_timeline())
       RETURNING boot_id AS "bootId"`,
      [[spec.kind], LEASE_MS],
    );
    const instanceId = asInstanceId(rows[0]?.bootId ?? "");
    const { taskRunId } = await scheduler.enqueue(spec, { transaction: client });
    const tx = joinTransaction(client);
    const request = { instanceId, kinds: [spec.kind], freeSlots: 1, requestNo: 1 };
    const [claim] = (await claimTaskRuns(tx, request)).claims;
    if (claim?.taskRunId !== taskRunId) return false;
    const owned = { taskRunId, claimNo: claim.claimNo, claimedBy: instanceId };
    if (job !== null)
      await keepHandle(tx, owned, { handle: { ...job, job: taskRunId }, deadlineInMs: DEADLINE_MS });
    await client.query("COMMIT");
    return true;
  } finally {
    await client.end();
  }
}
