/** Rewrites packages/core/migrations/schema.sql from a freshly migrated, throw-away database. */

import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase } from "@signalbox/core/testing";
import { removePostgres } from "../packages/server/src/postgres/remove.ts";
import { startPostgres } from "../packages/server/src/postgres/start.ts";
import { describeSchema } from "./describe-schema.ts";

const dir = mkdtempSync(join(tmpdir(), "signalbox-snapshot-"));
chmodSync(dir, 0o755);
try {
  const postgres = await startPostgres({ dir, durable: false });
  const database = await createTestDatabase(postgres.url);
  const file = new URL("../packages/core/migrations/schema.sql", import.meta.url);
  writeFileSync(file, await describeSchema(database.client));
  await database.drop();
  await postgres.stop();
} finally {
  await removePostgres(dir);
}
