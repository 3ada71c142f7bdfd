import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placesOf } from "./cluster.ts";

let root: string;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "signalbox-cluster-")));
});

afterAll(() => rm(root, { recursive: true, force: true }));

describe("the place of a folder's cluster", () => {
  it("is the same while another process makes the folder", async () => {
    for (let round = 0; round < 200; round += 1) {
      const dir = join(root, `made-${round}`, ".signalbox");
      const [{ home }] = await Promise.all([placesOf(dir), mkdir(dir, { recursive: true })]);

      expect(home).toBe(dir);
    }
  });

  it("is the same whichever way the folder is named", async () => {
    await mkdir(join(root, "project"));
    await symlink(join(root, "project"), join(root, "link"));

    const { home } = await placesOf(join(root, "link", "not-there", ".signalbox"));

    expect(home).toBe(join(root, "project", "not-there", ".signalbox"));
  });
});
