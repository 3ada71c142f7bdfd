/** What a task can do to its instance, in a short version; the long one is in `instances.long.test.ts`. */

import { afterAll, afterEach, beforeAll, beforeEach, it } from "vitest";
import { INSTANCE_SETTINGS } from "../ha/instance-messages.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { blockAndExpectNoLoss } from "./blocking.ts";
import { printAndExpectLittle } from "./flood.ts";
import { openStation, type Station } from "./station.ts";

let postgres: OwnPostgres;
let station: Station;

beforeAll(async () => {
  postgres = await startOwnPostgres();
});
beforeEach(async () => {
  station = await openStation(postgres);
});
afterEach(async () => await station?.close());
afterAll(async () => await postgres?.remove());

it("a handler that blocks the event loop for two leases costs its neighbours nothing", async () => {
  await blockAndExpectNoLoss(station, 2 * INSTANCE_SETTINGS.leaseMs);
  await station.expectWorking();
});

it("a process that prints 64 MB grows neither memory nor the database", async () => {
  process.stdout.write(`${await printAndExpectLittle(station, 64_000_000, 60_000)}\n`);
  await station.expectWorking();
});
