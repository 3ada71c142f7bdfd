/** Failovers to a promoted standby, one after the other: synchronous, asynchronous with a lag, and with the old primary alive. */

import { createScheduler } from "@signalbox/core";
import pg from "pg";
import { afterEach, expect, it } from "vitest";
import { failOverWithLag } from "../ha/failover.ts";
import { INSTANCE_SETTINGS, type WorkInput } from "../ha/instance-messages.ts";
import { randomFrom } from "../ha/random.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../ha/replicated-postgres.ts";
import { openRig, type Rig } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { until } from "../ha/until.ts";
import { longSeed, partOf } from "./long-settings.ts";
import { writeProof } from "./proof.ts";

const WITHIN_MS = 60_000;

let postgres: ReplicatedPostgres | null = null;
let rig: Rig | null = null;

afterEach(async () => {
  await rig?.close();
  await postgres?.remove();
  rig = null;
  postgres = null;
});

async function open(): Promise<{ readonly rig: Rig; readonly postgres: ReplicatedPostgres }> {
  postgres = await startReplicatedPostgres();
  const settings = { queryTimeoutMs: 3_000 };
  rig = await openRig(postgres, randomFrom(longSeed), {
    instance: { settings },
    tolerates: brokenLine,
  });
  return { rig, postgres };
}

it("loses nothing that was acknowledged when a synchronous standby is promoted", async () => {
  const fromMs = performance.now();
  const times = partOf(5);
  const station = await open();
  const { cluster, load } = station.rig;
  const downMs: number[] = [];
  let kept = 0;
  for (let failovers = 0; failovers < times; failovers += 1) {
    if (failovers > 0) await station.postgres.addStandby();
    await station.postgres.setSynchronous(true);
    const acknowledged = load.acknowledged.length;
    await until("more is enqueued", () => load.acknowledged.length > acknowledged + 60, {
      withinMs: WITHIN_MS,
    });
    const bootIds = new Set(cluster.running.map(({ bootId }) => bootId));
    const seen = cluster.count("timeline.changed");
    downMs.push((await station.postgres.failOver()).ms);
    await until(
      "every instance sees it",
      () => cluster.count("timeline.changed") >= seen + cluster.running.length,
      {
        withinMs: WITHIN_MS,
      },
    );
    kept += cluster.running.filter(({ bootId }) => bootIds.has(bootId)).length;
  }
  const { summary } = await station.rig.settleDown();

  const paths = { "new timelines seen": cluster.count("timeline.changed"), "boot ids kept": kept };
  requireTaken(paths);
  writeProof({
    title: "A synchronous standby takes over and nothing acknowledged is lost",
    seed: longSeed,
    seconds: (performance.now() - fromMs) / 1_000,
    faults: { failovers: times },
    paths,
    notes: [`nobody could write for ${downMs.join(", ")} ms`, summary],
  });
});

it("gives no number out twice when asynchronous standbys with a lag are promoted, and loses only the lag", async () => {
  const fromMs = performance.now();
  const times = partOf(5);
  const station = await open();
  const { cluster } = station.rig;
  const mayBeLost = new Set<string>();
  const lags: number[] = [];
  for (let failovers = 0; failovers < times; failovers += 1) {
    if (failovers > 0) await station.postgres.addStandby();
    const failedOver = await failOverWithLag(station.rig, station.postgres);
    for (const taskRunId of failedOver.mayBeLost) mayBeLost.add(taskRunId);
    lags.push(failedOver.lag);
  }
  const { summary } = await station.rig.settleDown({ mayBeLost });
  const { rows } = await station.rig.db.query<{ id: string }>("SELECT id FROM signalbox.task_run");
  const there = new Set(rows.map(({ id }) => id));
  const lost = [...mayBeLost].filter((taskRunId) => !there.has(taskRunId)).length;

  const paths = {
    "new timelines seen": cluster.count("timeline.changed"),
    "results of lost claims refused": cluster.count("task_run.refused"),
    "acknowledged and lost within a lag": lost,
  };
  requireTaken(paths);
  writeProof({
    title: "An asynchronous standby with a lag takes over and no claim number is given out twice",
    seed: longSeed,
    seconds: (performance.now() - fromMs) / 1_000,
    faults: { failovers: times },
    paths,
    notes: [`claims that the standby did not know of: ${lags.join(", ")}`, summary],
  });
});

it("leaves an old primary that still lives, as soon as one connection leads to the new one", async () => {
  const fromMs = performance.now();
  const station = await open();
  const { cluster, load, databaseUrl } = station.rig;
  const [stale] = cluster.running;
  if (stale === undefined) throw new Error("Nobody is there");
  const wire = cluster.wireOf(stale);
  const oldDatabase = at(station.postgres.primaryUrl, databaseUrl);
  const before = load.acknowledged.length;
  await station.postgres.caughtUp();

  wire.leadTo(oldDatabase);
  wire.cut();
  const old = new pg.Pool({ connectionString: oldDatabase, max: 1, query_timeout: 10_000 });
  old.on("error", () => {});
  try {
    await station.postgres.failOver({ leaveOldRunning: true });
    const claimed = stale.count("task_run.claimed");
    const others = cluster.running.filter((each) => each !== stale);
    await until(
      "the others are on the new one",
      () => others.every((each) => each.count("timeline.changed") > 0),
      {
        withinMs: WITHIN_MS,
      },
    );
    // It cannot know: its server answers, renews its lease and gives it work.
    await offerWork(oldDatabase);
    await until("it still works on the old one", () => stale.count("task_run.claimed") > claimed, {
      withinMs: WITHIN_MS,
    });

    wire.leadTo(databaseUrl);
    await old.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox lease'",
    );
    await until("it sees the new timeline", () => stale.count("timeline.changed") > 0, {
      withinMs: WITHIN_MS,
      instead: () => `lease ${INSTANCE_SETTINGS.leaseMs} ms, boot id ${stale.bootId}`,
    });
    const leftAt = await lastClaimNo(old);
    await offerWork(oldDatabase);
    const { summary } = await station.rig.settleDown({ mayBeLost: new Set(load.acknowledged.slice(before)) });

    expect(await lastClaimNo(old)).toBe(leftAt);
    writeProof({
      title: "An instance leaves an old primary that still lives",
      seed: longSeed,
      seconds: (performance.now() - fromMs) / 1_000,
      faults: { "split brains": 1 },
      paths: { "claims on the old primary after the failover": stale.count("task_run.claimed") - claimed },
      notes: [summary],
    });
  } finally {
    await old.end();
  }
});

/** The same database on another server. */
function at(serverUrl: string, databaseUrl: string): string {
  const url = new URL(serverUrl);
  url.pathname = new URL(databaseUrl).pathname;
  return url.href;
}

/** By a client that has stayed with the old server as well. */
async function offerWork(oldDatabase: string): Promise<void> {
  const client = createScheduler({ databaseUrl: oldDatabase, poolSize: 1 });
  const input: WorkInput = { ms: 5 };
  try {
    await client.enqueue({ kind: "work", input, priority: 0 });
  } finally {
    await client.stop();
  }
}

async function lastClaimNo(old: pg.Pool): Promise<number> {
  const { rows } = await old.query<{ no: string }>("SELECT last_value AS no FROM signalbox.claim_no");
  return Number(rows[0]?.no);
}
