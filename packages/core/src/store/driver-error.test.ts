import { describe, expect, it } from "vitest";
import { SchedulerError } from "../domain/errors.ts";
import { placeOf } from "./database-place.ts";
import { missesSchema, tellDriverError } from "./driver-error.ts";

const PLACE = "db:5432/app";

const SLOW_TO_CONNECT = "connecting took too long; look at the network and at the server, and call again";

function failure(code: string, message = "something"): Error {
  return Object.assign(new Error(message), code === "" ? {} : { code });
}

describe("what the driver throws", () => {
  it.each([
    [failure("ECONNREFUSED"), "nothing listens there; start it, or correct databaseUrl"],
    [failure("ENOTFOUND"), "there is no such host; correct databaseUrl"],
    [failure("EAI_AGAIN"), "the name of its host could not be looked up; call again, or correct databaseUrl"],
    [failure("EHOSTUNREACH"), "there is no way to its host; look at the network, or correct databaseUrl"],
    [failure("ECONNRESET"), "the connection was cut; call again"],
    [failure("08006"), "the connection was cut; call again"],
    [failure("57P01"), "the connection was cut; call again"],
    [failure("57P03"), "it is starting or shutting down; call again in a moment"],
    [failure("53300"), "it has no connection left; close some, or raise its max_connections"],
    [failure("57014"), "it took longer than queryTimeoutMs; call again, or raise it"],
    [failure("", "Query read timeout"), "it took longer than queryTimeoutMs; call again, or raise it"],
    [failure("", "Connection terminated unexpectedly"), "the connection was cut; call again"],
    [
      failure("", "timeout exceeded when trying to connect"),
      "no connection was free within queryTimeoutMs; call again, or raise poolSize",
    ],
    [failure("", "Connection terminated due to connection timeout"), SLOW_TO_CONNECT],
    // Of a connection that is not of the pool, as migrate has it.
    [failure("", "timeout expired"), SLOW_TO_CONNECT],
    [
      Object.assign(new AggregateError([failure("ECONNREFUSED")]), { code: "ECONNREFUSED" }),
      "nothing listens there; start it, or correct databaseUrl",
    ],
  ])("where the database is not there: %s", (cause, problem) => {
    const told = tellDriverError(cause, PLACE, { mayBeDone: false });

    expect(told).toMatchObject({ code: "DATABASE_UNREACHABLE", details: { place: PLACE, problem }, cause });
    expect(tellDriverError(cause, PLACE, { mayBeDone: true })).toMatchObject({ code: "ANSWER_LOST", cause });
  });

  it.each([
    ["28P01", "password authentication failed", "correct databaseUrl, or let the user in"],
    ["28000", "no pg_hba.conf entry", "correct databaseUrl, or let the user in"],
    ["3D000", "there is none", "create it, or correct databaseUrl"],
    ["42501", "permission denied for schema signalbox", "grant it to the user of databaseUrl"],
    ["25006", "cannot execute INSERT in a read-only transaction", "lead databaseUrl to the primary"],
    ["53100", "No space left on device", "make room on the server"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "self-signed", "trust its certificate, or set sslmode in databaseUrl"],
    ["", "SASL: client password must be a string", "put the password into databaseUrl"],
    ["", "The server does not support SSL connections", "set sslmode=disable in databaseUrl"],
  ])("where it refuses us: %s %s", (code, message, remedy) => {
    // Whether or not the COMMIT was sent: it has answered.
    for (const mayBeDone of [true, false])
      expect(tellDriverError(failure(code, message), PLACE, { mayBeDone })).toMatchObject({
        code: "DATABASE_REFUSED",
        details: { place: PLACE, problem: `${message}; ${remedy}` },
      });
  });

  it("is passed on where it is neither: a bug, or an error of ours", () => {
    for (const error of [
      failure("23505"),
      failure("40P01"),
      new TypeError("x is not a function"),
      new SchedulerError("TASK_NOT_FOUND", { id: "8a31" }),
      "no error at all",
    ])
      expect(tellDriverError(error, PLACE, { mayBeDone: true })).toBeNull();
  });

  it("tells a schema that is not there from other mistakes", () => {
    expect(["42P01", "3F000", "42703", "42883"].filter((code) => !missesSchema(failure(code)))).toEqual([]);
    expect(missesSchema(failure("42601"))).toBe(false);
  });
});

describe("the place of a database", () => {
  it.each([
    ["postgres://me:secret@db.example:5433/app?sslmode=disable", "db.example:5433/app"],
    ["postgresql://me:secret@[::1]:5432/app", "[::1]:5432/app"],
    [
      "postgres://me:secret@%2Frun%2Fpostgresql:5432/app",
      "the socket /run/postgresql/.s.PGSQL.5432 (database app)",
    ],
    ["", null],
    ["db.example:5432/app", null],
    ["mysql://me:secret@db.example/app", null],
    ["postgres://me:secret@db.example:port/app", null],
  ])("of %s is %s", (url, place) => {
    expect(placeOf(url)).toBe(place);
  });
});
