import { afterAll, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

it("makes uuids of version 7 that rise, also within one statement", async () => {
  const rows = await box.query<{ id: string }>(
    "SELECT signalbox.new_id() AS id FROM generate_series(1, 2000)",
  );
  const ids = rows.map(({ id }) => id);
  const times = ids.map((id) => id.slice(0, 18));

  expect(new Set(ids).size).toBe(2_000);
  expect(times).toEqual(times.toSorted());
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
