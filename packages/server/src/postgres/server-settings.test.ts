import { expect, it } from "vitest";
import { serverArgs } from "./server-settings.ts";

const told = (durable: boolean, extra: Record<string, string> = {}, platform = "linux") =>
  serverArgs("/srv/data", { durable, port: 5433, extra }, platform);

it("keeps the server on loopback, whatever its mode", () => {
  for (const args of [told(true), told(false)]) {
    expect(args).toContain("listen_addresses=127.0.0.1");
    expect(args).toContain("unix_socket_directories=");
  }
});

it("gives durability up only when told", () => {
  expect(told(true).join(" ")).not.toContain("fsync");
  expect(told(false)).toEqual(
    expect.arrayContaining([
      "fsync=off",
      "synchronous_commit=off",
      "full_page_writes=off",
      "shared_buffers=64MB",
    ]),
  );
});

it("lets the caller's settings win, and says nothing twice", () => {
  const args = told(true, { shared_buffers: "1GB", wal_level: "logical" });

  expect(args.filter((arg) => arg.startsWith("shared_buffers="))).toEqual(["shared_buffers=1GB"]);
  expect(args).toContain("wal_level=logical");
});

it("watches for closed connections only where the server can", () => {
  expect(told(true)).toContain("client_connection_check_interval=5s");
  expect(told(true, {}, "darwin").join(" ")).not.toContain("client_connection_check_interval");
});
