/** The ceiling: two bare loops of SQL on our own tables. No lease, no fence, no retry, no log, no signal. */

import pg from "pg";
import type { Contestant } from "./contestant.ts";
import { signalbox } from "./signalbox.ts";

const LOOPS = 2;
const OWNER = "00000000-0000-4000-8000-000000000000";

const CLAIM = `
  WITH taken AS (
    DELETE FROM signalbox.ready
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM signalbox.ready WHERE kind = 'nothing' AND queue = 'default' AND rules_no = 0
                              ORDER BY priority, available_at, task_run_id LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING task_run_id
  )
  UPDATE signalbox.task_run
     SET status = 'RUNNING', claimed_by = '${OWNER}', claimed_at = clock_timestamp(),
         claim_no = (SELECT nextval('signalbox.claim_no')), row_version = row_version + 1
   WHERE id = ANY (ARRAY(SELECT task_run_id FROM taken)) AND status = 'AVAILABLE'
  RETURNING id, claim_no, (SELECT input FROM signalbox.task WHERE task.id = task_run.task_id) AS input`;
const SETTLE = `
  UPDATE signalbox.task_run
     SET status = 'DONE', outcome = 'SUCCEEDED', finished_at = clock_timestamp(), row_version = row_version + 1
   WHERE id = ANY ($1) AND claim_no = $2 AND status = 'RUNNING'`;

interface Row {
  readonly id: string;
  readonly claim_no: string;
  readonly input: { readonly n: number };
}

export const raw: Contestant = {
  ...signalbox,
  name: "bare SQL on our tables",
  work: async ({ url, concurrency, onTask, onEnd }) => {
    const pool = new pg.Pool({ connectionString: url, max: LOOPS });
    let stopping = false;
    const loop = async (): Promise<void> => {
      const client = await pool.connect();
      await client.query(
        "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET jit = off",
      );
      while (!stopping) {
        const { rows } = await client.query<Row>({
          name: "claim",
          text: CLAIM,
          values: [Math.floor(concurrency / LOOPS)],
        });
        const [first] = rows;
        if (first === undefined) break;
        for (const { input } of rows) {
          onTask(input.n);
          onEnd(input.n);
        }
        await client.query({
          name: "settle",
          text: SETTLE,
          values: [rows.map(({ id }) => id), first.claim_no],
        });
      }
      client.release();
    };
    const loops = Promise.all(Array.from({ length: LOOPS }, loop));
    return {
      stop: async () => {
        stopping = true;
        await loops;
        await pool.end();
      },
    };
  },
};
