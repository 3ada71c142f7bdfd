import { describe, expect, test } from "vitest";
import { UsageError } from "../usage-error.ts";
import { checkedUrl } from "./find-server.ts";

describe("the address of a server", () => {
  test.each([
    ["http://127.0.0.1:7410", "http://127.0.0.1:7410"],
    ["http://127.0.0.1:7410/", "http://127.0.0.1:7410"],
    ["https://ops.example/signalbox", "https://ops.example/signalbox"],
    ["https://ops.example/signalbox//", "https://ops.example/signalbox"],
    ["https://ops.example/signalbox/api/v1", "https://ops.example/signalbox"],
    ["https://ops.example/api/v1/?x=1#y", "https://ops.example"],
  ])("%s is %s", (given, address) => {
    expect(checkedUrl(given, "--server")).toBe(address);
  });

  test.each(["127.0.0.1:7410", "ftp://ops.example", "", "https://ana:secret@ops.example"])(
    "%j is none, and a password in it is not repeated",
    (given) => {
      const refused = (): string => checkedUrl(given, "--server");
      expect(refused).toThrow(UsageError);
      expect(refused).toThrow(/^--server is not the address of a server/);
      expect(refused).not.toThrow(/secret/);
    },
  );
});
