/** 50,000 requests that nobody should send, to every route. A short round: packages/server/src/http/routes/any-request.db.test.ts. */

import { createTestDatabase } from "@signalbox/core/testing";
import { inject, it } from "vitest";
import { show } from "../ha/sometimes.ts";
import { askAnything } from "../trials/ask-anything.ts";
import { longSeed, partOf } from "./long-settings.ts";
import { writeProof } from "./proof.ts";

const REQUESTS = partOf(50_000);

it("answers whatever is asked with what was asked for, or with a problem", async () => {
  process.stdout.write(`Requests: ${REQUESTS}, seed ${longSeed}\n`);
  const database = await createTestDatabase(inject("adminUrl"));
  const fromMs = performance.now();
  try {
    const { statuses, routes } = await askAnything(database, { seed: longSeed, requests: REQUESTS });
    writeProof({
      title: "Whatever is asked is answered",
      seed: longSeed,
      seconds: (performance.now() - fromMs) / 1_000,
      faults: { "hostile requests": REQUESTS },
      paths: {},
      notes: [
        `each of ${Object.keys(routes).length} routes at least ${Math.min(...Object.values(routes))} times; answers by status: ${show(statuses)}`,
        "no 5xx, every refusal a problem with a code that is documented and the id of its request, every other answer as the contract has it; no secret and no stack in answers or in the server's log; a task that came afterwards was done",
      ],
    });
  } finally {
    await database.drop();
  }
});
