import { describe, expect, it } from "vitest";
import { judgeServer } from "./check-server.ts";
import { type ConnectProblemKind, explainConnectError } from "./connect-problem.ts";

const target = { host: "db.example", port: 5432, database: "orders", user: "alice" };
const failed = (code: string, message = "failed") => Object.assign(new Error(message), { code });

describe("a failed connection", () => {
  it.each<[string, ConnectProblemKind]>([
    ["ECONNREFUSED", "unreachable"],
    ["ENOTFOUND", "unreachable"],
    ["ETIMEDOUT", "unreachable"],
    ["28P01", "wrong_password"],
    ["28000", "not_admitted"],
    ["3D000", "no_database"],
    ["57P03", "not_ready"],
    ["53300", "not_ready"],
    ["XX000", "refused"],
  ])("with code %s is %s", (code, kind) => {
    expect(explainConnectError(failed(code), target).kind).toBe(kind);
  });

  it("names host and port, and what to do", () => {
    expect(explainConnectError(failed("ECONNREFUSED"), target).sentence).toBe(
      "No PostgreSQL at db.example:5432 (DATABASE_URL): nothing listens there. " +
        "Start it, give another URL, or leave it out: npx signalbox dev brings its own",
    );
  });

  it.each([
    ["timeout expired", "no answer"],
    ["Connection terminated unexpectedly", "the connection was cut"],
  ])("that the client reports without a code (%s) is told as well", (message, told) => {
    const { kind, sentence } = explainConnectError(new Error(message), target);

    expect(kind).toBe("unreachable");
    expect(sentence).toContain(told);
  });

  it("tells several addresses that all refuse like one", () => {
    const error = Object.assign(new AggregateError([failed("ECONNREFUSED")]), { code: "ECONNREFUSED" });

    expect(explainConnectError(error, target).kind).toBe("unreachable");
  });

  it("names a socket by its file and an IPv6 host in brackets", () => {
    const at = (host: string) => explainConnectError(failed("ECONNREFUSED"), { ...target, host }).sentence;

    expect(at("/run/postgresql")).toContain("socket /run/postgresql/.s.PGSQL.5432");
    expect(at("::1")).toContain("[::1]:5432");
  });

  it("names user and database where those are wrong", () => {
    expect(explainConnectError(failed("28P01"), target).sentence).toContain("user alice");
    expect(explainConnectError(failed("3D000"), target).sentence).toContain("no database orders");
  });
});

describe("a server that answers", () => {
  it("is fine from 14 on", () => {
    const facts = { version: "14.20 (Debian 14.20-1)", versionNum: 140_020, inRecovery: false };

    expect(judgeServer(facts, target)).toEqual({ kind: "ok", version: "14.20" });
  });

  it("is too old before", () => {
    expect(judgeServer({ version: "13.1", versionNum: 130_001, inRecovery: false }, target)).toEqual({
      kind: "too_old",
      sentence:
        "PostgreSQL 13 at DATABASE_URL, 14 or newer needed. " +
        "Give another URL, or leave it out: npx signalbox dev brings its own",
    });
  });

  it("is of no use as a standby", () => {
    const check = judgeServer({ version: "18.4", versionNum: 180_004, inRecovery: true }, target);

    expect(check.kind).toBe("read_only");
  });
});
