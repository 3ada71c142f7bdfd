/** A standby is promoted, and a connection is silent: one round of each. More of both: test/long. */

import { afterEach, expect, it } from "vitest";
import { failOverWithLag } from "./failover.ts";
import { INSTANCE_SETTINGS, type WorkInput } from "./instance-messages.ts";
import { type OwnPostgres, startOwnPostgres } from "./own-postgres.ts";
import { randomFrom } from "./random.ts";
import { startReplicatedPostgres } from "./replicated-postgres.ts";
import { openRig, type Rig } from "./rig.ts";
import { requireTaken } from "./sometimes.ts";
import { brokenLine } from "./tolerated.ts";
import { until } from "./until.ts";
import { someoneWhoRuns } from "./what-became.ts";

const WITHIN_MS = 60_000;
const seed = Number(process.env["SIGNALBOX_HA_SEED"] ?? Date.now() % 1_000_000);

let postgres: OwnPostgres | null = null;
let rig: Rig | null = null;

afterEach(async () => {
  await rig?.close();
  await postgres?.remove();
  rig = null;
  postgres = null;
});

it("gives no claim number out twice when a standby is promoted that lacks the last transactions", async () => {
  const replicated = await startReplicatedPostgres();
  postgres = replicated;
  rig = await openRig(replicated, randomFrom(seed), { tolerates: brokenLine });

  const { mayBeLost, ms, lag, raisedTo } = await failOverWithLag(rig, replicated);
  const { summary } = await rig.settleDown({ mayBeLost });

  process.stdout.write(
    `HA failover (seed ${seed}): ${lag} claims in the lag, up after ${ms} ms, numbers from ${raisedTo}; ${summary}\n`,
  );
  requireTaken({
    "timeline changed": rig.cluster.count("timeline.changed"),
    refused: rig.cluster.count("task_run.refused"),
  });
});

it("goes on without an instance whose connections are silent, and takes it back", async () => {
  const own = await startOwnPostgres();
  postgres = own;
  const settings = { queryTimeoutMs: 2_000 };
  rig = await openRig(own, randomFrom(seed), { instance: { settings }, tolerates: brokenLine });
  const input: WorkInput = { ms: 800 };
  const specs = Array.from({ length: 15 }, () => ({ kind: "work" as const, input, priority: 0 }));
  const { taskRuns } = await rig.scheduler.enqueueMany(specs);
  const { instance, ran } = await someoneWhoRuns(
    rig,
    taskRuns.map(({ taskRunId }) => taskRunId),
  );
  const [lostBootId] = instance.bootIds;
  const wire = rig.cluster.wireOf(instance);

  // Its statements arrive and are carried out; it gets no answer.
  wire.hush("to the instance");
  await until("it gives up its lease", () => instance.bootId === null, { withinMs: WITHIN_MS });
  const others = rig;
  await until(
    "the others have done what it ran",
    async () => {
      const { rows } = await others.db.query(
        `SELECT FROM signalbox.task_run AS t JOIN signalbox.task_run AS later ON later.task_id = t.task_id
          WHERE t.id = ANY ($1::uuid[]) AND later.status = 'DONE'`,
        [ran],
      );
      return rows.length === ran.length;
    },
    { withinMs: WITHIN_MS },
  );
  wire.heal();
  await until("it is back", () => instance.bootId !== null, { withinMs: WITHIN_MS });

  expect(instance.bootId).not.toBe(lostBootId);
  expect(instance.told("instance.fenced")).toHaveLength(1);
  const { summary } = await rig.settleDown();
  process.stdout.write(`HA half-open (seed ${seed}, lease ${INSTANCE_SETTINGS.leaseMs} ms): ${summary}\n`);
});
