import { expect, test } from "vitest";
import { findingLines } from "../../render/finding-lines.ts";
import { PLAIN_LOOK } from "../../render/look.ts";
import { exitCodeFor } from "../commands/doctor.ts";
import { EXIT } from "../exit-code.ts";
import { skewFinding } from "./check-api.ts";
import { settingFindings } from "./check-database.ts";
import { checkNode } from "./check-machine.ts";

test.each([
  ["v20.19.0", "ok"],
  ["v24.1.0", "ok"],
  ["v20.18.3", "fail"],
  ["v18.20.0", "fail"],
])("Node %s", (version, state) => {
  expect(checkNode(version).state).toBe(state);
});

test("a clock that differs is worth a word", () => {
  expect(skewFinding(400).state).toBe("ok");
  expect(skewFinding(90_000)).toMatchObject({ state: "warn", text: expect.stringContaining("1 min 30 s") });
});

test("settings that lose work or leave no room are named", () => {
  expect(settingFindings({ fsync: "on", connections: 100 })).toEqual([]);
  expect(settingFindings({ fsync: "off", connections: 10 }).map(({ text }) => text)).toEqual([
    "fsync is off",
    "max_connections is 10",
  ]);
});

test("what fails has its fix below it, and the exit code says what kind of trouble it is", () => {
  const ok = { what: "Node", state: "ok", text: "v24" } as const;
  const server = { what: "server", state: "fail", text: "no answer", fix: "Start it" } as const;

  expect(findingLines([ok, server], PLAIN_LOOK)).toEqual([
    "ok    Node    v24",
    "fail  server  no answer",
    "      Start it",
  ]);
  expect(exitCodeFor([ok])).toBe(EXIT.ok);
  expect(exitCodeFor([ok, server])).toBe(EXIT.unreachable);
  expect(exitCodeFor([server, { what: "Node", state: "fail", text: "v18" }])).toBe(EXIT.unexpected);
});
