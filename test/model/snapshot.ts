/** The whole of the database that the oracle speaks about, in one statement. */

import type { TestDatabase } from "../../packages/core/src/testing/test-database.ts";
import type { GateName, ModelJob, Status } from "./model.ts";

export interface SeenTaskRun {
  readonly taskId: string;
  readonly taskRunId: string;
  readonly attempt: number;
  readonly interruptions: number;
  readonly deferrals: number;
  readonly priority: number;
  readonly status: Status;
  readonly outcome: string | null;
  readonly claimNo: number | null;
  readonly claimedBy: string | null;
  readonly canceling: boolean;
  readonly later: boolean;
  readonly enqueuedUs: number;
  readonly availableUs: number | null;
  readonly letGo: boolean;
  readonly job: ModelJob | null;
  readonly blockedOn: GateName | null;
  readonly blockedKey: string | null;
}

interface SeenHold {
  readonly scope: string;
  readonly slot: number;
  readonly taskRunId: string | null;
  readonly reservedFor: string | null;
}

export interface Seen {
  readonly taskRuns: readonly SeenTaskRun[];
  readonly holds: readonly SeenHold[];
  readonly uses: readonly { readonly name: string; readonly exclusive: number; readonly shared: number }[];
  readonly runs: readonly {
    readonly runId: string;
    readonly status: string;
    readonly limit: number;
    readonly open: number;
    readonly failed: number;
    readonly canceled: number;
  }[];
  readonly instances: readonly { readonly instanceId: string; readonly state: string }[];
}

const US = (stamp: string): string => `(extract(epoch FROM ${stamp}) * 1000000)::bigint`;

const LOOK = `
  SELECT json_build_object(
    'taskRuns', (SELECT coalesce(json_agg(json_build_object(
        'taskId', t.task_id, 'taskRunId', t.id, 'attempt', t.attempt, 'interruptions', t.interruptions,
        'deferrals', t.deferrals, 'priority', t.priority, 'status', t.status, 'outcome', t.outcome,
        'claimNo', t.claim_no, 'claimedBy', t.claimed_by, 'canceling', t.cancel_requested_at IS NOT NULL,
        'later', t.status = 'PENDING' AND coalesce(t.run_at > clock_timestamp(), false),
        'enqueuedUs', ${US("t.enqueued_at")}, 'availableUs', ${US("t.available_at")},
        'letGo', t.let_go_at IS NOT NULL, 'job', (
          SELECT json_build_object('handle', j.handle, 'losses', j.losses, 'overdue', j.deadline <= clock_timestamp(),
              'poll', CASE WHEN j.next_poll_at = 'infinity' THEN 'never' WHEN j.next_poll_at <= clock_timestamp() THEN 'due'
                           WHEN j.next_poll_at = j.deadline THEN 'at the deadline' ELSE 'later' END)
            FROM signalbox.outside_job AS j WHERE j.task_run_id = t.id),
        'blockedOn', w.blocked_on, 'blockedKey', w.blocked_key)), '[]')
      FROM signalbox.task_run AS t LEFT JOIN signalbox.waiting AS w ON w.task_run_id = t.id),
    'holds', (SELECT coalesce(json_agg(json_build_object(
        'scope', scope, 'slot', slot, 'taskRunId', task_run_id, 'reservedFor', reserved_for)), '[]')
      FROM signalbox.hold),
    'uses', (SELECT coalesce(json_agg(json_build_object('name', name, 'exclusive', exclusive, 'shared', shared)), '[]')
      FROM signalbox.resource_use WHERE exclusive + shared > 0),
    'runs', (SELECT coalesce(json_agg(json_build_object('runId', id, 'status', status, 'limit', task_limit,
        'open', open_tasks, 'failed', failed_tasks, 'canceled', canceled_tasks)), '[]')
      FROM signalbox.run),
    'instances', (SELECT coalesce(json_agg(json_build_object('instanceId', boot_id, 'state', state)), '[]')
      FROM signalbox.instance)) AS seen`;

export async function look({ client }: TestDatabase): Promise<Seen> {
  const { rows } = await client.query<{ seen: Seen }>(LOOK);
  const [row] = rows;
  if (row === undefined) throw new Error("No row");
  return row.seen;
}
