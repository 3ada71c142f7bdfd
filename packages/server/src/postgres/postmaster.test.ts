import { expect, it } from "vitest";
import { parsePidFile } from "./postmaster.ts";

const lines = [
  "4711",
  "/srv/data",
  "1763250000",
  "54321",
  "",
  "127.0.0.1",
  "  1234567         9",
  "ready   ",
];

it("reads process, port and readiness", () => {
  expect(parsePidFile(lines.join("\n"))).toEqual({ pid: 4711, port: 54321, accepts: true });
});

it("counts a standby as ready and a starting server as not", () => {
  expect(parsePidFile([...lines.slice(0, 7), "standby "].join("\n"))?.accepts).toBe(true);
  expect(parsePidFile([...lines.slice(0, 7), "starting"].join("\n"))?.accepts).toBe(false);
});

it("reads a file whose server has only begun", () => {
  expect(parsePidFile("4711\n/srv/data\n")).toEqual({ pid: 4711, port: null, accepts: false });
});

it("makes nothing of an empty or foreign file", () => {
  expect(parsePidFile("")).toBeNull();
  expect(parsePidFile("what?\n")).toBeNull();
});
