/** The warden beside an instance that is killed, or whose lease nobody renews. Without a database: only real processes. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { waitUntil } from "../../../test/wait-until.ts";
import { PERL } from "./fork-by-perl.ts";

let host: ChildProcess | null = null;
/** The process that was started, and its child. */
let pids: readonly number[] = [];

/** Answers when the host has started its process. */
async function startHost(leaseMs: number, perl: string): Promise<ChildProcess> {
  const file = fileURLToPath(new URL("../../../test/warden-host.ts", import.meta.url));
  const loader = [`--import=${import.meta.resolve("tsx")}`, "--conditions=source"];
  host = spawn(process.execPath, [...loader, file, String(leaseMs), perl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(host.stdout ?? host, "data")) as [Buffer];
  pids = said.toString().trim().split(" ").map(Number);
  expect(alive()).toHaveLength(2);
  return host;
}

function alive(): readonly number[] {
  return pids.filter((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
}

afterEach(() => {
  host?.kill("SIGKILL");
  for (const pid of alive()) process.kill(pid, "SIGKILL");
});

describe.each([PERL, "/no-such-program"])("a warden for which %s forks, where there is that", (perl) => {
  it("ends the processes of an instance that was killed, long before its lease ends", async () => {
    const instance = await startHost(3_600_000, perl);

    instance.kill("SIGKILL");

    await waitUntil("nothing of them is left", () => alive().length === 0);
  });

  it("ends the processes of an instance whose lease nobody renews, while that one still lives", async () => {
    const instance = await startHost(2_000, perl);

    await waitUntil("nothing of them is left", () => alive().length === 0);
    expect(instance.exitCode).toBeNull();
  });
});
