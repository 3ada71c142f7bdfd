import { readFileSync } from "node:fs";
import { createTestDatabase } from "@signalbox/core/testing";
import { expect, inject, it } from "vitest";
import { describeSchema } from "../../scripts/describe-schema.ts";

it("migrates to the schema that migrations/schema.sql shows (npm run db:snapshot rewrites it)", async () => {
  const database = await createTestDatabase(inject("adminUrl"));
  try {
    const shown = readFileSync(new URL("../../packages/core/migrations/schema.sql", import.meta.url), "utf8");

    expect(await describeSchema(database.client)).toBe(shown);
  } finally {
    await database.drop();
  }
});
