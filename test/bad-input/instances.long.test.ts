/** What a task can do to its instance, at full length. */

import { afterAll, afterEach, beforeAll, beforeEach, it } from "vitest";
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

it("a handler that blocks the event loop for a minute costs its neighbours nothing", async () => {
  await blockAndExpectNoLoss(station, 60_000);
  await station.expectWorking();
});

it("a process that prints a gigabyte grows neither memory nor the database", async () => {
  process.stdout.write(`${await printAndExpectLittle(station, 1_000_000_000, 300_000)}\n`);
  await station.expectWorking();
});
