/**
 * When a task run that waited for a resource had got it: at the COMMIT of the transaction that gave it, which the server knows
 * afterwards by the transaction's number. No row of ours keeps that: stamps are made before the COMMIT, and a claim follows.
 */

import type { Database } from "./database.ts";

/** Of what is given from now on: a row more for each task, in every rate that is measured here. */
export async function watchResources(database: Database): Promise<void> {
  await database.query("CREATE TABLE IF NOT EXISTS given_resource (task_run_id uuid, transaction_no xid)");
  await database.query(`
    CREATE OR REPLACE FUNCTION note_given_resources() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO public.given_resource
      SELECT task_run_id, pg_current_xact_id()::xid FROM given WHERE scope LIKE 'resource:%';
      RETURN NULL;
    END $body$`);
  for (const how of ["INSERT", "UPDATE"])
    await database.query(`
      CREATE OR REPLACE TRIGGER note_given_resources_by_${how} AFTER ${how} ON signalbox.hold
      REFERENCING NEW TABLE AS given FOR EACH STATEMENT EXECUTE FUNCTION note_given_resources()`);
}

/** By the id of the task run, in milliseconds since 1970: the last time that it was given its resource. */
export async function readGivenAt(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ id: string; ms: number }>(`
    SELECT task_run_id AS id, (extract(epoch FROM max(pg_xact_commit_timestamp(transaction_no))) * 1000)::float8 AS ms
      FROM given_resource GROUP BY task_run_id`);
  return new Map(rows.map(({ id, ms }) => [id, ms]));
}
