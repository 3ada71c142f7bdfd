/** What tests of a product built on the scheduler need: a database per test file and a scheduler without timers. */

export { executionContext } from "./builders.ts";
export { createManualScheduler, type ManualOptions, type ManualScheduler } from "./manual-scheduler.ts";
export { createTestDatabase, type TestDatabase } from "./test-database.ts";
