import { expect, it } from "vitest";
import { whyExited } from "./why-exited.ts";

const said = (pid: number, text: string) => `2026-11-16 00:09:00.206 UTC [${pid}] ${text}`;

it("sees that another server has the data", () => {
  expect(whyExited([said(7, 'FATAL:  lock file "postmaster.pid" already exists')], 7)).toBe("other_server");
});

it("sees that another server is just making its lock file", () => {
  expect(whyExited([said(7, 'FATAL:  lock file "postmaster.pid" is empty')], 7)).toBe("other_server");
});

it("sees that processes of a killed server are still there", () => {
  const lines = [said(7, "FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use")];

  expect(whyExited(lines, 7)).toBe("still_ending");
});

it("sees that the port was taken", () => {
  const lines = [
    said(7, 'LOG:  could not bind IPv4 address "127.0.0.1": Address already in use'),
    said(7, "FATAL:  could not create any TCP/IP sockets"),
  ];

  expect(whyExited(lines, 7)).toBe("port_taken");
});

it("ignores what other servers wrote into the same log", () => {
  const lines = [
    said(8, 'FATAL:  lock file "postmaster.pid" already exists'),
    said(7, "FATAL:  invalid value"),
  ];

  expect(whyExited(lines, 7)).toBe("unknown");
});
