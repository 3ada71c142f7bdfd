import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { asNamed, type Named, sendTogether } from "./round-trip.ts";

const box = await openFixture(inject("adminUrl"));
beforeAll(async () => void (await box.query("CREATE TABLE signalbox.left_behind (n integer PRIMARY KEY)")));
afterEach(async () => void (await box.query("TRUNCATE signalbox.left_behind")));
afterAll(box.close);

const BEGIN = asNamed("BEGIN");
const COMMIT = asNamed("COMMIT");
const write = (n: unknown): Named => ({
  name: "write",
  text: "INSERT INTO signalbox.left_behind VALUES ($1)",
  values: [n],
});

/** A session that has prepared all of it. */
async function open(): Promise<pg.PoolClient> {
  const pool = new pg.Pool({ connectionString: box.db.url, max: 1, pipeline: true, query_timeout: 20_000 });
  const client = await pool.connect();
  onTestFinished(async () => {
    client.release(true);
    await pool.end();
  });
  for (const each of [BEGIN, write(0), COMMIT]) await client.query({ ...each });
  return client;
}

it("does not commit the part before a value that cannot be sent", async () => {
  const client = await open();
  const endless: Record<string, unknown> = {};
  Object.assign(endless, { endless });

  const failing = sendTogether(client, [BEGIN, write(1), write(endless), COMMIT]);

  await expect(failing).rejects.toThrow("circular");
  await client.query("ROLLBACK");
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([{ n: 0 }]);
});

it("does not commit the part before a statement that the driver does not send", async () => {
  const client = await open();

  const failing = sendTogether(client, [BEGIN, write(2), { ...write(3), text: "SELECT $1" }, COMMIT]);

  await expect(failing).rejects.toThrow("Prepared statements must be unique");
  await client.query("ROLLBACK");
  expect(await box.query("TABLE signalbox.left_behind")).toEqual([{ n: 0 }]);
});
