/** A file system of some hundred megabytes that a test can fill. Only root can have one. */

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { chmod, mkdtemp, open, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly kind: "disk";
  readonly dir: string;
  /** Until nothing more fits. Again: what the server has given back since. */
  fill(): Promise<void>;
  empty(): Promise<void>;
  remove(): Promise<void>;
}

const SIZE = "200m";

export async function openSmallDisk(): Promise<
  SmallDisk | { readonly kind: "none"; readonly because: string }
> {
  if (process.getuid?.() !== 0) return { kind: "none", because: "not root" };
  const dir = await mkdtemp(join(tmpdir(), "signalbox-small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE},mode=0755`, "signalbox", dir], {
      stdio: "pipe",
    });
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    return { kind: "none", because: String(error).split("\n")[0] ?? "" };
  }
  await chmod(dir, 0o755);
  const unmount = (): void => {
    execFileSync("umount", ["--lazy", dir], { stdio: "pipe" });
    rmSync(dir, { recursive: true, force: true });
  };
  process.once("exit", unmount);
  const filler = join(dir, "filler");
  return {
    kind: "disk",
    dir,
    fill: async () => {
      const { bavail, bsize } = await statfs(dir);
      const file = await open(filler, "a");
      try {
        await file.writeFile(Buffer.alloc(bavail * bsize));
      } catch (error) {
        // The server wrote too: full is full.
        if (!String(error).includes("ENOSPC")) throw error;
      } finally {
        await file.close();
      }
    },
    empty: async () => await rm(filler),
    remove: async () => {
      process.off("exit", unmount);
      unmount();
    },
  };
}
