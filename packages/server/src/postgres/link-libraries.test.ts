import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { linkLibraries } from "./link-libraries.ts";

let packageDir: string;

beforeEach(async () => {
  packageDir = await mkdtemp(join(tmpdir(), "signalbox-links-"));
  await mkdir(join(packageDir, "native", "lib"), { recursive: true });
});

afterEach(() => rm(packageDir, { recursive: true, force: true }));

it("makes the links the package lists, as often as it is asked", async () => {
  const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }];
  await writeFile(join(packageDir, "native", "pg-symlinks.json"), JSON.stringify(links));
  await writeFile(join(packageDir, "native/lib/libpq.so.5.18"), "library");

  expect(await linkLibraries(packageDir)).toBe("linked");
  expect(await linkLibraries(packageDir)).toBe("linked");

  expect(await readFile(join(packageDir, "native/lib/libpq.so.5"), "utf8")).toBe("library");
});

it("has nothing to do for a package without a list", async () => {
  expect(await linkLibraries(packageDir)).toBe("linked");
});
