/** Limits of processes, and a warden that does not do its work. */

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { waitUntil } from "../../../test/wait-until.ts";
import { defineProcess } from "./define-process.ts";
import { openWarden } from "./warden-client.ts";
import { BEAT_SOCKET } from "./warden-messages.ts";

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

it("ends a warden that is frozen, with what it was to end, and the next process gets a new one", async () => {
  const scheduler = await box.scheduler({ tasks: [program] });
  const folder = await mkdtemp(join(tmpdir(), "frozen-"));
  const shell = `echo $$ > ${folder}/pid; kill -STOP $PPID; exec sleep 100`;
  const frozen = await scheduler.enqueue(program.task({ shell }, { timeouts: { runningMs: 2_000 } }));

  await scheduler.runUntilIdle();

  expect((await scheduler.get(frozen.taskRunId)).outcome).toBe("RUN_TIMEOUT");
  const pid = (await readFile(join(folder, "pid"), "utf8")).trim();
  await rm(folder, { recursive: true });
  await waitUntil("it is gone", () => !existsSync(`/proc/${pid}`));
  const next = await scheduler.enqueue(program.task({ argv: ["true"] }));
  await scheduler.runUntilIdle();
  expect(await box.statusOf(next.taskRunId)).toBe("DONE");
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

it("says why a warden could not be started, and does not wait for it for ever", async () => {
  const folder = await mkdtemp(join(tmpdir(), "occupied-"));
  await mkdir(join(folder, BEAT_SOCKET));

  const opened = openWarden(folder, () => {});

  await expect(opened).rejects.toThrow(
    `The warden could not be started: listen EADDRINUSE: address already in use ${join(folder, BEAT_SOCKET)}`,
  );

  await waitUntil("its folder is gone", () => !existsSync(folder));
});
