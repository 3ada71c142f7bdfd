/** An instance whose slots go on with who is next in line, and of which a test has every string in hand. */

import type { InstanceId, TaskRunId } from "../src/domain/ids.ts";
import type { Ending, Outcome } from "../src/domain/settlement.ts";
import type { TaskSpec } from "../src/domain/task-spec.ts";
import { HeldClaims } from "../src/engine/held-claims.ts";
import { createLineTurns } from "../src/engine/line-turns.ts";
import { reconcileOnce } from "../src/engine/reconciler.ts";
import { createSettler, type Settler } from "../src/engine/settler.ts";
import type { SchedulerEvent } from "../src/engine/telemetry.ts";
import { defineTask } from "../src/executors/define-task.ts";
import type { Pool, Transaction } from "../src/store/database.ts";
import { SHARE_CLAIM_LOCK } from "../src/store/holds/claim-lock.ts";
import { joinCluster } from "../src/store/instances/instance.ts";
import { type Claim, claimTaskRuns } from "../src/store/task-runs/claim.ts";
import { type GoOnRequest, goOnInLines, type WentOn } from "../src/store/task-runs/go-on.ts";
import type { ManualScheduler } from "../src/testing/manual-scheduler.ts";
import { echo, type Fixture } from "./fixture.ts";
import { orders, standInLine } from "./lines.ts";
import type { SteppedPool } from "./stepped-pool.ts";

/** Has nothing to tell when it has succeeded. */
export const silent = defineTask({ kind: "silent", run: () => {} });
export const SILENCE: Ending = { kind: "succeeded", output: undefined };

export interface TurningWorker {
  readonly instanceId: InstanceId;
  readonly held: HeldClaims;
  readonly events: readonly SchedulerEvent[];
  /** What was begun in the slot of another, in this order. */
  readonly begun: readonly Claim[];
  /** The names of the statements of its settlements so far. */
  readonly sent: readonly string[];
  /** Set by a test: what it makes of its own lease, and whether it may take what nobody runs. */
  isTrusted: boolean;
  mayClaim: boolean;
  /** Takes all that is AVAILABLE. Its turn does not end by itself unless told when. */
  readonly claim: (turnEndsAtMs?: number) => Promise<readonly Claim[]>;
  /** These, or else all that it holds, have come to this; it is still to be recorded. */
  readonly end: (outcome?: Outcome, taskRunIds?: readonly (TaskRunId | undefined)[]) => void;
  readonly settleOnce: Settler["settleOnce"];
  /** Only the statement, for all that it holds, whatever that came to. */
  readonly goOn: (request?: Partial<GoOnRequest>) => Promise<WentOn>;
  readonly reconcile: () => Promise<number>;
}

/** On the same resource as the others. */
export const version = (no: number, options: Partial<TaskSpec> = {}): TaskSpec =>
  silent.task(no, { resources: orders, version: `${no}`, ...options });

export interface Turning {
  readonly scheduler: ManualScheduler;
  readonly worker: TurningWorker;
  readonly pool: SteppedPool;
  /** Of what the worker has claimed. */
  readonly claimNo: number;
  readonly ids: readonly [TaskRunId, ...TaskRunId[]];
  /** The one after the first. */
  readonly second: TaskRunId;
}

interface TurningOptions {
  readonly turnEndsAtMs?: number;
  readonly kinds?: readonly string[];
  readonly url?: string;
}

/** The first is RUNNING, and so is what else could start at once. */
export async function runFirst(
  box: Fixture,
  specs: readonly TaskSpec[],
  { turnEndsAtMs, kinds, url }: TurningOptions = {},
): Promise<Turning> {
  const scheduler = await box.scheduler({ tasks: [silent, echo] });
  const pool = box.pool("worker", url);
  const worker = await joinAndTurn(pool, kinds);
  const ids = await standInLine(box, scheduler, ...specs);
  const claims = await worker.claim(turnEndsAtMs);
  return { scheduler, worker, pool, claimNo: claims[0]?.claimNo ?? 0, ids, second: ids[1] ?? ids[0] };
}

export async function joinAndTurn(
  pool: Pool,
  kinds: readonly string[] = ["silent", "echo"],
): Promise<TurningWorker> {
  const member = { name: "turning", kinds, slots: 50, leaseMs: 60_000, mark: null };
  const instanceId = await pool.transaction(async (tx) => await joinCluster(tx, member));
  const [events, begun, sent]: [SchedulerEvent[], Claim[], string[]] = [[], [], []];
  const emit = (event: SchedulerEvent): number => events.push(event);
  const held = new HeldClaims();
  const telling = tellStatements(pool, sent);
  const life = { instanceId, held, lease: { isTrusted: () => worker.isTrusted } };
  const turns = createLineTurns({
    pool: telling,
    kinds,
    emit,
    life: () => (worker.mayClaim ? life : null),
    begin: (_, claimed) => begun.push(...claimed.map(({ claim }) => claim)),
  });
  const settler = createSettler({ pool: telling, batchSize: 100, emit, turns });
  const worker: TurningWorker = {
    instanceId,
    held,
    events,
    begun,
    sent,
    isTrusted: true,
    mayClaim: true,
    claim: async (turnEndsAtMs = Number.POSITIVE_INFINITY) => {
      const request = { instanceId, kinds, freeSlots: 50, requestNo: held.beginRequest() };
      const { claims } = await pool.atOnce(async (tx) => await claimTaskRuns(tx, request), SHARE_CLAIM_LOCK);
      held.endRequest(request.requestNo);
      for (const claim of claims) held.add(claim, turnEndsAtMs);
      return claims;
    },
    end: (outcome = SILENCE, taskRunIds) => {
      for (const each of held.all()) {
        if (each.ended || taskRunIds?.includes(each.claim.taskRunId) === false) continue;
        held.endExecution(each);
        settler.add(each.claim, instanceId, outcome, held);
      }
    },
    settleOnce: settler.settleOnce,
    goOn: async (request = {}) => {
      const claims = held.all().map(({ claim }) => claim);
      const whole: GoOnRequest = {
        instanceId,
        kinds,
        taskRunIds: claims.map(({ taskRunId }) => taskRunId),
        claimNo: claims[0]?.claimNo ?? 0,
        requestNo: 77,
        ...request,
      };
      return await pool.atOnce(async (tx) => await goOnInLines(tx, whole), SHARE_CLAIM_LOCK);
    },
    reconcile: async () => await reconcileOnce({ pool, instanceId, held, emit }),
  };
  return worker;
}

function tellStatements(pool: Pool, sent: string[]): Pool {
  const telling = (tx: Transaction): Transaction => ({
    isTransaction: true,
    query: async (statement) => {
      sent.push(statement.name);
      return await tx.query(statement).catch((error: unknown) => {
        sent.push(`${statement.name} failed`);
        throw error;
      });
    },
  });
  return {
    ...pool,
    transaction: async (work, first) => await pool.transaction(async (tx) => await work(telling(tx)), first),
    atOnce: async (work, first) => await pool.atOnce(async (tx) => await work(telling(tx)), first),
  };
}
