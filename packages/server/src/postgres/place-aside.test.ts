import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { clearAside, placeAside } from "./place-aside.ts";

let place: string;
let target: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "signalbox-aside-"));
  target = join(place, "thing");
});

afterEach(() => rm(place, { recursive: true, force: true }));

const writes = (text: string) => (aside: string) => writeFile(join(aside, "file"), text);

it("leaves nothing of what was only half made", async () => {
  const filling = placeAside(target, async (aside) => {
    await writes("half")(aside);
    throw new Error("power cut");
  });

  await expect(filling).rejects.toThrow("power cut");
  expect(await readdir(place)).toEqual([]);
});

it("lets one of several win and the others use what it made", async () => {
  await Promise.all(["a", "b", "c"].map((text) => placeAside(target, writes(text))));

  expect(await readdir(place)).toEqual(["thing"]);
  expect(["a", "b", "c"]).toContain(await readFile(join(target, "file"), "utf8"));
});

it("clears what killed processes left, and spares those at work", async () => {
  const NO_PROCESS = 2 ** 22 + 1; // above the highest process id there can be
  const [dead, young, alive] = [`${NO_PROCESS}-x`, `${NO_PROCESS}-y`, `${process.pid}-z`].map(
    (name) => `${target}.aside-${name}`,
  ) as [string, string, string];
  for (const path of [dead, young, alive]) await mkdir(path);
  for (const path of [dead, alive]) await utimes(path, 0, 0);

  await clearAside(target);

  expect((await readdir(place)).map((name) => join(place, name)).toSorted()).toEqual(
    [young, alive].toSorted(),
  );
});
