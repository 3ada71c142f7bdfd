/**
 * One life of an instance in the cluster: its boot id, its lease, and what it holds. When the lease is
 * lost everything is given up, and the instance comes back as somebody new.
 */

import { randomUUID } from "node:crypto";
import { asInstanceId, type InstanceId, type TaskRunId } from "../domain/ids.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { ownMark } from "../executors/process/process-mark.ts";
import type { Pool } from "../store/database.ts";
import { carryDrain } from "../store/instances/drain.ts";
import { joinCluster, leaveCluster, markDraining } from "../store/instances/instance.ts";
import { followTimeline } from "../store/instances/timeline.ts";
import { namedOf } from "./finished.ts";
import { HeldClaims, stopExecution } from "./held-claims.ts";
import { keepLease, type LeaseKeeper } from "./lease-keeper.ts";
import { createLeaseRenewer, type LeaseRenewer } from "./lease-renewer.ts";
import type { SchedulerSettings } from "./settings.ts";
import type { Emit } from "./telemetry.ts";

/** However long the database is away: whoever joined before these has lost its lease long ago. */
const MOST_FORMER = 100;

export interface Membership {
  readonly instanceId: InstanceId;
  readonly held: HeldClaims;
  readonly lease: LeaseKeeper;
}

export interface MembershipDeps {
  readonly pool: Pool;
  readonly settings: SchedulerSettings;
  readonly emit: Emit;
  readonly onRenewed: () => void;
  /** It was drained, and may claim again. */
  readonly onCalledBack: () => void;
  readonly onLost: () => void;
}

export class Memberships {
  readonly #deps: MembershipDeps;
  #current: Membership | null = null;
  /** Lives that ended with executions which ignore their signal: these still take up slots. */
  #former: HeldClaims[] = [];
  /** From now on nothing is to be started. */
  leaving = false;
  /** Somebody has asked this life to drain; that can be taken back. */
  #isDrained = false;
  #timeline: number | null = null;
  /** The last life that lost its lease, and those that may have joined since without our knowing: what they were asked for, the next one is. */
  #formerIds: readonly InstanceId[] = [];
  #renewer: LeaseRenewer | null = null;

  constructor(deps: MembershipDeps) {
    this.#deps = deps;
  }

  get current(): Membership | null {
    return this.#current;
  }

  get #lives(): readonly HeldClaims[] {
    return [...this.#former, ...(this.#current === null ? [] : [this.#current.held])];
  }

  /** Whether it may take what nobody runs yet. */
  get mayClaim(): boolean {
    return !this.leaving && !this.#isDrained;
  }

  get isDrained(): boolean {
    return this.#isDrained;
  }

  get executing(): number {
    return this.#lives.reduce((sum, { executing }) => sum + executing, 0);
  }

  /** Nothing is at work any more but what ignores its signal. */
  get isQuiet(): boolean {
    return this.#lives.every((held) => held.isQuiet);
  }

  /** How many executions ignore their signal, in this life and in those before. */
  get stuck(): number {
    return this.#lives.reduce((sum, { stuck }) => sum + stuck, 0);
  }

  /** Slots that this life may use: those of former lives are given back when their executions end. */
  get slots(): number {
    this.#former = this.#former.filter(({ executing }) => executing > 0);
    return this.#deps.settings.slots - this.#former.reduce((sum, { executing }) => sum + executing, 0);
  }

  async join(): Promise<void> {
    if (this.#current !== null) return;
    const { pool, settings, emit, onRenewed } = this.#deps;
    const { name, slots, leaseMs, beatMs } = settings;
    this.#renewer ??= createLeaseRenewer({ url: settings.databaseUrl, leaseMs, beatMs });
    await this.#renewer.start();
    const begunAtMs = monotonicMs();
    const kinds = settings.tasks.map(({ kind }) => kind);
    const instanceId = asInstanceId(randomUUID());
    const formerIds = this.#formerIds;
    // Before it is sent: its answer may be lost, and it have joined all the same.
    this.#formerIds = [...formerIds, instanceId].slice(-MOST_FORMER);
    const { timeline, isDrained } = await pool.transaction(async (tx) => {
      const { timeline } = await followTimeline(tx);
      await joinCluster(tx, { instanceId, name, kinds, slots, leaseMs, mark: ownMark() });
      return { timeline, isDrained: await carryDrain(tx, formerIds, instanceId) };
    });
    this.#formerIds = [];
    this.#saw(timeline);
    const lease = keepLease({
      renewer: this.#renewer,
      instanceId,
      leaseMs,
      beatMs,
      begunAtMs,
      onTimeline: (answeredOn) => this.#saw(answeredOn),
      onRenewed: (state, tookMs) => {
        emit({ type: "lease.renewed", instanceId, tookMs });
        this.#heard(state);
        onRenewed();
      },
      onFailed: (error, trustedForMs) =>
        emit({ type: "lease.renewal_failed", instanceId, trustedForMs, error }),
      onLost: () => this.#fence(instanceId),
      onOverdue: (taskRunId) => this.#tellOverdue(taskRunId),
      onOverdueFailed: (error) => emit({ type: "loop.failed", loop: "overdue watch", error }),
    });
    this.#isDrained = isDrained;
    this.#current = { instanceId, held: new HeldClaims(), lease };
    emit({ type: "instance.joined", instanceId });
  }

  /**
   * The lease's own connection may be the first to lead to a new primary: no other one may stay with the old. Also when
   * the lease is lost there: a pool that stayed behind would join on the old one again and again.
   */
  #saw(timeline: number): void {
    const { pool, emit } = this.#deps;
    const from = this.#timeline;
    this.#timeline = timeline;
    pool.requireTimeline(timeline);
    if (from !== null && from !== timeline) emit({ type: "timeline.changed", from, to: timeline });
  }

  /** Every beat says what others make of this life. */
  #heard(state: "LIVE" | "DRAINING"): void {
    const wasDrained = this.#isDrained;
    // One that leaves by itself is DRAINING too, and has said so.
    this.#isDrained = state === "DRAINING" && !this.leaving;
    if (this.#isDrained && !wasDrained) this.tellDraining();
    if (wasDrained && !this.#isDrained) this.#deps.onCalledBack();
  }

  tellDraining(): void {
    if (this.#current === null) return;
    const { instanceId, held } = this.#current;
    this.#deps.emit({ type: "instance.draining", instanceId, executing: held.executing });
  }

  async startDraining(): Promise<void> {
    const life = this.#current;
    if (life !== null)
      await this.#deps.pool.transaction(async (tx) => await markDraining(tx, life.instanceId));
  }

  stopExecutions(): void {
    for (const held of this.#current?.held.all() ?? []) stopExecution(held, "shutdown");
  }

  async leave(): Promise<void> {
    const life = this.#current;
    this.#current = null;
    life?.lease.stop();
    await this.#renewer?.end();
    if (life === null) return;
    // What ignores its signal and could not even be settled is still at work: nobody may take it over before the lease
    // has run out.
    if (life.held.all().some(({ ended }) => !ended)) return;
    try {
      await this.#deps.pool.transaction(async (tx) => await leaveCluster(tx, life.instanceId));
    } catch (error) {
      // The database is away: the lease runs out by itself.
      this.#deps.emit({ type: "loop.failed", loop: "leaving", error });
    }
    this.#deps.emit({ type: "instance.left", instanceId: life.instanceId });
  }

  /** The thread has ended it in the database while this loop was blocked. */
  #tellOverdue(taskRunId: TaskRunId): void {
    const held = this.#current?.held.get(taskRunId);
    if (held === undefined) return;
    const { claim } = held;
    stopExecution(held, "run_timeout");
    this.#deps.emit({ type: "task_run.overdue", ...namedOf(claim), claimNo: claim.claimNo });
  }

  /** Before the lease ends in the database: whoever takes over then meets nobody. */
  #fence(instanceId: InstanceId): void {
    const life = this.#current;
    if (life === null || life.instanceId !== instanceId) return;
    this.#current = null;
    this.#formerIds = [instanceId];
    this.#former.push(life.held);
    const running = life.held.all().filter(({ ended }) => !ended);
    for (const held of running) stopExecution(held, "fence");
    this.#deps.emit({ type: "instance.fenced", instanceId, aborted: running.length });
    // Nothing is to be waited for here: the thread goes on with the next life.
    life.lease.stop();
    this.#deps.onLost();
  }
}
