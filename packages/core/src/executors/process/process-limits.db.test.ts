/** Limits of processes, and a warden that does not do its work. */

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { waitUntil } from "../../../test/wait-until.ts";
import { wardenOf } from "../../../test/warden-of.ts";
import { monotonicMs } from "../monotonic.ts";
import { defineProcess } from "./define-process.ts";
import { PATIENCE } from "./frozen-watch.ts";
import { createProcesses } from "./processes.ts";
import { livingGroups } from "./system-processes.ts";
import { openWarden } from "./warden-client.ts";
import { BEAT_SOCKET, OUTPUT_SOCKET } from "./warden-messages.ts";

const box = await openFixture(inject("adminUrl"));
const program = defineProcess({ allowShell: true, graceMs: 200 });
afterEach(box.clear);
afterAll(box.close);

it("counts what a process prints as its progress, and silence as none", async () => {
  const scheduler = await box.scheduler({ tasks: [program] });
  // The first one starts the warden, which takes its time.
  await scheduler.enqueue(program.task({ argv: ["true"] }));
  await scheduler.runUntilIdle();
  const timeouts = { progressMs: 1_500 };
  const talks = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i; sleep 0.2; done";
  const talking = await scheduler.enqueue(program.task({ shell: talks }, { timeouts }));
  const silent = await scheduler.enqueue(program.task({ shell: "sleep 60" }, { timeouts }));

  await scheduler.runUntilIdle();

  expect((await scheduler.get(talking.taskRunId)).outcome).toBe("SUCCEEDED");
  expect((await scheduler.get(silent.taskRunId)).outcome).toBe("NO_PROGRESS");
});

it("says of a folder that is not there that it is not, and does not blame the program", async () => {
  const rootless = defineProcess({ root: "/no-such-folder" });
  const scheduler = await box.scheduler({ tasks: [rootless] });
  const { taskRunId } = await scheduler.enqueue(rootless.task({ argv: ["true"] }));
  await scheduler.runUntilIdle();

  expect((await scheduler.get(taskRunId)).error).toEqual({
    code: "PROCESS_NOT_STARTED",
    message: "The process could not be started: There is no folder /no-such-folder (ENOENT)",
  });
});

it("ends a warden that is frozen, with what it was to end, and the next process gets a new one", async () => {
  const because: string[] = [];
  const processes = createProcesses({ ...PATIENCE, lateMs: 200, lookMs: 100 });
  const { start, endAll } = processes.of({
    lease: { life: "one", leaseMs: 60_000, renewedAtMs: monotonicMs, reportTo: () => {} },
    deadline: null,
    onEnded: (why) => because.push(why),
    tell: () => {},
  });
  const spec = { cwd: "/", env: { PATH: "/usr/bin:/bin" }, graceMs: 100, onOutput: () => {} };
  const [told, untold] = [
    await start({ ...spec, argv: ["sleep", "100"] }),
    await start({ ...spec, argv: ["sleep", "100"] }),
  ];
  process.kill(wardenOf(told.pid), "SIGSTOP");

  told.stop(100);

  await waitUntil("both have ended", () => because.length === 2);
  const ends = await Promise.all([told.ended, untold.ended]);
  expect(ends.map((end) => end.because)).toEqual(because);
  expect(because).toEqual(["warden_lost", "warden_lost"]);
  expect(livingGroups([told.pid, untold.pid])).toEqual(new Set());
  const next = await start({ ...spec, argv: ["true"] });
  expect(await next.ended).toEqual({ exitCode: 0, signal: null, because: null, told: false });
  await endAll();
  await processes.close();
});

it("ends a warden too that is frozen when a process has ended by itself", async () => {
  const processes = createProcesses({ ...PATIENCE, lateMs: 200, lookMs: 100 });
  const { start } = processes.of({
    lease: { life: "one", leaseMs: 60_000, renewedAtMs: monotonicMs, reportTo: () => {} },
    deadline: null,
    onEnded: () => {},
    tell: () => {},
  });
  const printed = new Set<string>();
  const { pid, ended } = await start({
    argv: ["/bin/sh", "-c", "echo there; echo there >&2; exec sleep 100"],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    graceMs: 100,
    onOutput: (stream) => void printed.add(stream),
  });
  await waitUntil("both of its outputs are read", () => printed.size === 2);
  const because: unknown[] = [];
  void ended.then((end) => because.push(end.because));
  process.kill(wardenOf(pid), "SIGSTOP");

  process.kill(pid, "SIGKILL");

  await waitUntil("its end is known", () => because.length > 0);
  expect(because).toEqual(["warden_lost"]);
  await processes.close();
});

it("says why there is no warden where the system does not start one, and leaves nothing behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "no-program-"));
  const { execPath } = process;
  process.execPath = "/no-such-program";

  const opened = openWarden(folder, () => {}).finally(() => {
    process.execPath = execPath;
  });

  await expect(opened).rejects.toThrow("The warden could not be started: spawn /no-such-program ENOENT");

  await waitUntil("its folder is gone", () => !existsSync(folder));
});

it("ends a warden that does not begin, and does not wait for it for ever", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hangs-"));
  const hanging = join(folder, "hanging");
  await writeFile(hanging, "#!/bin/sh\nexec sleep 100\n", { mode: 0o700 });
  const { execPath } = process;
  process.execPath = hanging;

  const said: string[] = [];
  openWarden(folder, () => {}, { beginMs: 0, lateMs: 100, lookMs: 20 }).catch(({ message }: Error) => {
    said.push(message);
  });

  try {
    await waitUntil("it is given up", () => said.length > 0);
  } finally {
    process.execPath = execPath;
  }
  expect(said).toEqual(["The warden could not be started: It ended with SIGKILL"]);
  await waitUntil("its folder is gone", () => !existsSync(folder));
});

it.each([BEAT_SOCKET, OUTPUT_SOCKET])(
  "says why a warden could not be started, and does not wait for it for ever: %s",
  async (socket) => {
    const folder = await mkdtemp(join(tmpdir(), "occupied-"));
    await mkdir(join(folder, socket));

    const opened = openWarden(folder, () => {});

    await expect(opened).rejects.toThrow(
      `The warden could not be started: listen EADDRINUSE: address already in use ${join(folder, socket)}`,
    );

    await waitUntil("its folder is gone", () => !existsSync(folder));
  },
);
