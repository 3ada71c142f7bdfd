/** Answers which queues there are, and how much of each is where. */

import type { Pool } from "../store/database.ts";
import { listQueues } from "../store/queues/read.ts";
import { lookByIndex } from "./bounded-pool.ts";
import type { Scheduler } from "./scheduler-face.ts";

const MOST_QUEUES = 1_000;

export function queueReader(pool: Pool): Pick<Scheduler, "listQueues"> {
  return {
    listQueues: async () => await lookByIndex(pool, async (tx) => await listQueues(tx, MOST_QUEUES)),
  };
}
