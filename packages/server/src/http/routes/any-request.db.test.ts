/** Whatever is sent to any address is answered: by what was asked for, or by a problem; never by a mistake of ours. */

import { problemSchema, ROUTES, type Route } from "@signalbox/contract";
import fc from "fast-check";
import { afterAll, expect, inject, test } from "vitest";
import { openApi } from "../../../test/api-fixture.ts";

const box = await openApi(inject("adminUrl"));
afterAll(box.close);

const REQUESTS = 1_500;
const JSON_ROUTES = ROUTES.filter(({ answer }) => typeof answer !== "string");

const oddText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "%00",
    "\u0000",
    "../../etc/passwd",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "019a8c3e-5d21-7abc-8def-000000000001",
    "019A8C3E",
    "-1",
    "1e9",
    "\ud800",
    "x".repeat(300),
  ),
);
const member = fc.oneof(
  fc.constantFrom(
    "limit",
    "weight",
    "amount",
    "perMs",
    "what",
    "windows",
    "by",
    "reason",
    "detail",
    "filter",
    "kind",
  ),
  fc.constantFrom(
    "tasks",
    "run",
    "resources",
    "version",
    "status",
    "queue",
    "search",
    "from",
    "before",
    "after",
  ),
  oddText,
);
const oddBody = fc.oneof(
  // Good for some of the addresses.
  fc.constantFrom<object>(
    {},
    { limit: 5 },
    { amount: 1, perMs: 1_000 },
    { what: { queue: "q" }, windows: [] },
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(member, fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.record({ queue: oddText }), oddText)),
);

/** Half of a surrogate pair cannot be written in an address. */
function written(text: string): string {
  return encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, "\ufffd"));
}

function addressOf(
  { path }: Route,
  names: readonly string[],
  query: Readonly<Record<string, string>>,
): string {
  const rest = [...names];
  const filled = path.replaceAll(/:\w+/g, () => written(rest.shift() ?? "") || "%20");
  return `${filled}?${Object.entries(query)
    .map(([name, value]) => `${written(name)}=${written(value)}`)
    .join("&")}`;
}

test("any request is answered with what was asked for, or with a problem", { timeout: 120_000 }, async () => {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...JSON_ROUTES),
      fc.tuple(oddText, oddText),
      fc.dictionary(member, oddText, { maxKeys: 2 }),
      oddBody,
      async (route, names, query, body) => {
        const { method } = route;
        const response = await fetch(new URL(addressOf(route, names, query), box.url), {
          method,
          ...(method === "GET"
            ? {}
            : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
        });
        const text = await response.text();
        statuses.add(response.status);

        expect(box.logged).toEqual([]);
        expect(response.status).toBeLessThan(500);
        if (response.status >= 400) problemSchema.parse(JSON.parse(text));
      },
    ),
    { numRuns: REQUESTS },
  );

  // It was not refused for one reason only.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 204, 400, 404, 422]));
});
