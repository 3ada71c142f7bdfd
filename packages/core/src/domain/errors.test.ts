import { describe, expect, it } from "vitest";
import { ERROR_CODES, type ErrorCode, type ErrorDetails, SchedulerError } from "./errors.ts";

const examples: { readonly [Code in ErrorCode]: readonly [ErrorDetails[Code], string] } = {
  TASK_NOT_FOUND: [{ id: "0199" }, "No task or task run has the id 0199"],
  AMBIGUOUS_ID: [
    { prefix: "01", matches: ["0199", "0198"] },
    "More than one task run begins with 01 (0199, 0198); give more of the id",
  ],
  RUN_NOT_FOUND: [{ runId: "0199" }, "No run has the id 0199"],
  INSTANCE_NOT_FOUND: [
    { instanceId: "0199" },
    "No instance has the id 0199; a dead one is forgotten after a while",
  ],
  OPERATION_NOT_FOUND: [
    { operationId: "0199" },
    "No operation has the id 0199; one that has ended is forgotten after 30 days",
  ],
  UNKNOWN_EXECUTOR: [
    { kind: "mail", known: ["echo", "sql"] },
    'No executor is registered for "mail" (known: echo, sql)',
  ],
  DUPLICATE_EXECUTOR: [
    { kind: "mail" },
    'Two executors are registered for "mail"; give one of them another kind',
  ],
  INVALID_ARGUMENT: [{ at: "id", problem: "is missing; give a text" }, "id: is missing; give a text"],
  INVALID_TASK: [
    { at: "tasks[3].priority", problem: "10 is not a whole number from 0 to 9" },
    "tasks[3].priority: 10 is not a whole number from 0 to 9",
  ],
  INVALID_INPUT: [
    { kind: "mail", at: "to.0", problem: "expected an address" },
    'The input of "mail" is not valid at to.0: expected an address',
  ],
  INVALID_VERSION: [{ version: "v1" }, '"v1" is not a version; use dotted integers such as 3 or 20261115.2'],
  INVALID_LIMIT: [{ limit: -1 }, "-1 is not a parallel limit; use a whole number, 0 for unlimited"],
  INVALID_RULE: [
    { at: "limit", problem: "-1 is not a whole number from 0 to 1000000" },
    "limit: -1 is not a whole number from 0 to 1000000",
  ],
  UNKNOWN_RATE: [
    { rates: ["sms", "mail"] },
    'No rate is called "sms" or "mail"; call setRate() before tasks name it',
  ],
  INVALID_WINDOW: [
    { at: "windows[1].until", problem: "is not after from" },
    "windows[1].until: is not after from",
  ],
  IDEMPOTENCY_KEY_REUSED: [
    { key: "order-42" },
    "The idempotency key order-42 was used for another request; use a new key for a new request",
  ],
  INVALID_FILTER: [{ problem: "is empty" }, "The filter is empty"],
  EMPTY_FILTER: [
    { conditions: "ids, status" },
    "The filter of an operation is empty, which would mean everything; give ids, status",
  ],
  INVALID_TEXT: [
    { at: "reason", problem: "is longer than 2000 characters" },
    "reason: is longer than 2000 characters",
  ],
  NOT_RETRYABLE: [{ id: "8a31", problem: "it is DONE" }, "8a31 cannot be retried: it is DONE"],
  NOT_DEFERRABLE: [{ id: "8a31", problem: "it is DONE" }, "8a31 cannot be deferred: it is DONE"],
  ALREADY_STARTED: [
    { instanceName: "app-1" },
    "app-1 was started before; a scheduler starts once, so create a new one",
  ],
  SCHEDULER_STOPPED: [{ instanceName: "app-1" }, "app-1 was stopped; create a new scheduler"],
  DATABASE_UNREACHABLE: [
    { place: "db:5432/app", problem: "nothing listens there; start it" },
    "The database at db:5432/app does not answer: nothing listens there; start it",
  ],
  DATABASE_REFUSED: [
    { place: "db:5432/app", problem: "wrong password; correct databaseUrl" },
    "The database at db:5432/app refuses: wrong password; correct databaseUrl",
  ],
  ANSWER_LOST: [
    { place: "db:5432/app", problem: "the connection was cut" },
    "The answer of the database at db:5432/app was lost (the connection was cut), so it is not known whether it happened; repeat the call, but an enqueue only with the idempotency key that it had, or look first",
  ],
  TOO_SLOW: [
    { withinMs: 1_500, remedy: "ask for fewer at once" },
    "It took the database longer than 1.5 s and was given up; ask for fewer at once",
  ],
  DATABASE_TOO_OLD: [{ version: "13.4" }, "PostgreSQL 13.4 is too old; 14 or newer is needed"],
  NOT_THE_PRIMARY: [
    { timeline: 1, newest: 2 },
    "The database that answers is an old primary (timeline 1, the newest is 2); stop it or lead its name to the new one",
  ],
  SCHEMA_NOT_CURRENT: [
    { found: 1, needed: 2 },
    "The schema is at migration 1 and 2 is needed; call migrate() first",
  ],
  SCHEMA_TOO_NEW: [
    { found: 3, known: 2 },
    "The schema is at migration 3, newer than the 2 this version knows; upgrade this instance",
  ],
  MIGRATION_CHANGED: [
    { name: "0001_task_run.sql" },
    "Migration 0001_task_run.sql was applied with another text than this version has; migrations are never edited",
  ],
};

describe("an error a caller can get", () => {
  it.each(ERROR_CODES)("says %s in one sentence", (code) => {
    const [details, sentence] = examples[code];

    const error = new SchedulerError(code, details);

    expect(error.message).toBe(sentence);
    expect(error).toMatchObject({ name: "SchedulerError", code, details });
  });

  it("has an example here for every code", () => {
    expect(Object.keys(examples)).toEqual(ERROR_CODES);
  });

  it("says so when no executor is known at all", () => {
    const error = new SchedulerError("UNKNOWN_EXECUTOR", { kind: "mail", known: [] });

    expect(error.message).toBe('No executor is registered for "mail" (known: none)');
  });

  it("leaves out the place when the whole input is wrong", () => {
    const error = new SchedulerError("INVALID_INPUT", {
      kind: "mail",
      at: "",
      problem: "expected an object",
    });

    expect(error.message).toBe('The input of "mail" is not valid: expected an object');
  });

  it("keeps what caused it", () => {
    const cause = new Error("connection refused");

    const error = new SchedulerError("TASK_NOT_FOUND", { id: "0199" }, { cause });

    expect(error.cause).toBe(cause);
    expect(error).toBeInstanceOf(Error);
  });
});
