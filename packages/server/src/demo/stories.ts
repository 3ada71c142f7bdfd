/**
 * What the demo enqueues. Each story keeps one gate busy, so that at any moment something waits at each.
 *
 * A story knows its open task runs by what they are, not by ids it remembers: so it goes on after a
 * restart, or in another process, where it was left.
 */

import {
  type EnqueueManyOptions,
  exclusive,
  shared,
  type TaskRun,
  type TaskSpec,
  type WaitingCode,
} from "@signalbox/core";
import { applyMigration, backfill, report } from "./tasks.ts";

interface Chapter {
  readonly tasks: readonly TaskSpec[];
  readonly run?: NonNullable<EnqueueManyOptions["run"]>;
}

export interface Story {
  readonly name: string;
  /** Whether this open task run is one of its own. */
  owns(taskRun: TaskRun): boolean;
  /** The gate that it keeps busy; null: it waits at none. */
  readonly gate: WaitingCode | null;
  /** `turn` counts how often stories were continued; the first is 0. */
  chapter(at: Date, turn: number): Chapter;
}

const ROLLOUT_DATABASES = ["shop-eu", "shop-us", "shop-ap", "billing", "accounts"] as const;
const LATER_MS = 7_000;

/** Two at a time of five: the others wait at RUN_LIMIT. */
const rollout: Story = {
  name: "rollout",
  owns: (taskRun) => ROLLOUT_DATABASES.some((database) => holds(taskRun, database)),
  gate: "RUN_LIMIT",
  chapter: (at) => ({
    run: { title: `Rollout of ${versionAt(at)}`, limit: 2 },
    tasks: ROLLOUT_DATABASES.map((database, index) =>
      applyMigration.task(
        { seconds: 3.5 + (index % 2) },
        { title: `${database} add column`, resources: [exclusive(database)] },
      ),
    ),
  }),
};

/** Enqueued as 3, 1, 2, run as 1, 2, 3: the later ones wait at VERSION_ORDER. */
const versions: Story = {
  name: "ordered versions",
  owns: (taskRun) => holds(taskRun, "catalog"),
  gate: "VERSION_ORDER",
  chapter: (at) => ({
    tasks: [3, 1, 2].map((step) =>
      applyMigration.task(
        { seconds: 3 },
        {
          title: `catalog step ${step}`,
          resources: [exclusive("catalog")],
          version: `${versionAt(at)}.${step}`,
        },
      ),
    ),
  }),
};

/** Readers share the warehouse, the writer wants it alone: it, and who comes after it, wait at RESOURCE_BUSY. */
const readersAndWriter: Story = {
  name: "readers and a writer",
  owns: (taskRun) => holds(taskRun, "warehouse"),
  gate: "RESOURCE_BUSY",
  chapter: () => ({
    tasks: [
      report.task({ seconds: 3 }, { title: "warehouse stock report", resources: [shared("warehouse")] }),
      report.task({ seconds: 4 }, { title: "warehouse sales report", resources: [shared("warehouse")] }),
      applyMigration.task(
        { seconds: 3 },
        { title: "warehouse add index", resources: [exclusive("warehouse")] },
      ),
      report.task({ seconds: 3 }, { title: "warehouse audit report", resources: [shared("warehouse")] }),
    ],
  }),
};

/** Not before their time: they wait at RUN_AT. */
const later: Story = {
  name: "tasks for later",
  owns: ({ kind, resources, runAt }) => kind === report.kind && resources.length === 0 && runAt !== null,
  gate: "RUN_AT",
  chapter: (at) => ({
    tasks: [1, 2].map((turn) =>
      report.task(
        { seconds: 1.5 },
        { title: "daily totals", runAt: new Date(at.getTime() + turn * LATER_MS) },
      ),
    ),
  }),
};

/** Waits at no gate; its first attempt fails every other time, and a second one follows. */
const backfills: Story = {
  name: "backfills",
  owns: ({ kind }) => kind === backfill.kind,
  gate: null,
  chapter: (_at, turn) => ({
    tasks: [
      backfill.task(
        { seconds: 4, failFirst: turn % 2 === 0 },
        { title: "backfill order totals", retry: { attempts: 3, backoff: { firstMs: 2_000 } } },
      ),
    ],
  }),
};

export const STORIES: readonly Story[] = [rollout, versions, readersAndWriter, later, backfills];

/** Never more than about two chapters of a story are open: the backlog does not grow. */
const OPEN_AT_MOST = 6;

/** A story is due when its gate is about to have nobody who waits there. */
export function isDue(story: Story, open: readonly TaskRun[]): boolean {
  const own = open.filter((taskRun) => story.owns(taskRun));
  if (story.gate === null) return own.length === 0;
  // Not looked at yet: it may still come to wait there.
  const waiting = own.filter(
    ({ status, blockedOn }) => status === "PENDING" && (blockedOn ?? story.gate) === story.gate,
  );
  return waiting.length <= 1 && own.length <= OPEN_AT_MOST;
}

/** "20261116.43205": day and second of the day, so that a later chapter always has the higher version. */
export function versionAt(at: Date): string {
  const day = at.toISOString().slice(0, 10).replaceAll("-", "");
  const midnight = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate());
  return `${day}.${Math.floor((at.getTime() - midnight) / 1_000)}`;
}

function holds({ resources }: TaskRun, name: string): boolean {
  return resources.some((resource) => resource.name === name);
}
