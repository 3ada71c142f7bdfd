/** The warden itself is killed: its processes are ended by the instance, and their tasks are interrupted. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { waitUntil } from "../../../test/wait-until.ts";
import { wardenOf } from "../../../test/warden-of.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";
import { defineTask, type TaskDefinition, type TaskOptions } from "../define-task.ts";
import { monotonicMs } from "../monotonic.ts";
import { defineProcess } from "./define-process.ts";
import { createProcesses, type ProcessTerms } from "./processes.ts";
import { livingGroups } from "./system-processes.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const program = defineProcess({ allowShell: true });

/** Runs it once under a warden that is killed while it runs. Answers its task run and its process. */
async function loseWarden(
  task: TaskDefinition<never>,
  input: unknown,
  options: TaskOptions = {},
): Promise<{ readonly scheduler: ManualScheduler; readonly taskRunId: string; readonly taskId: string }> {
  const scheduler = await box.scheduler({ tasks: [task] });
  const { taskRunId, taskId } = await scheduler.enqueue({ ...options, kind: task.kind, input });
  await scheduler.promote();
  await scheduler.claim();
  const execution = scheduler.execute();
  const group = await startedBy(scheduler, taskRunId);

  process.kill(wardenOf(group), "SIGKILL");
  await execution;
  expect(livingGroups([group])).toEqual(new Set());
  await scheduler.settle();
  return { scheduler, taskRunId, taskId };
}

/** The process says its id. */
async function startedBy(scheduler: ManualScheduler, taskRunId: string): Promise<number> {
  let said = "";
  await waitUntil("it says its group", async () => {
    const { entries } = await scheduler.readLog(taskRunId);
    said = entries.find(({ stream }) => stream === "stdout")?.text ?? "";
    return said.includes("\n");
  });
  return Number(said);
}

/** Without a database: what is told of ends is kept. */
function termsOf(because: string[], reportTo = (): unknown => null): ProcessTerms {
  return {
    lease: { life: "a", leaseMs: 60_000, renewedAtMs: monotonicMs, reportTo },
    deadline: null,
    onEnded: (why) => because.push(why),
    tell: () => {},
  };
}

const SPEC = { cwd: "/", env: { PATH: "/usr/bin:/bin" }, graceMs: 100, onOutput: () => {} };
const SAYS_ITS_GROUP = "echo $$; exec sleep 100";
const ONCE = { retry: { attempts: 1 } } as const;

describe("a lost warden", () => {
  it("spends no attempt of what ran under it, and the next process gets a new one", async () => {
    const { scheduler, taskRunId, taskId } = await loseWarden(program, { shell: SAYS_ITS_GROUP }, ONCE);

    expect((await scheduler.get(taskRunId)).error).toEqual({
      code: "WARDEN_LOST",
      message: expect.stringContaining("was lost while it ran this"),
    });
    expect(await box.query("SELECT attempt, interruptions FROM signalbox.task_run ORDER BY attempt")).toEqual(
      [
        { attempt: 1, interruptions: 0 },
        { attempt: 2, interruptions: 1 },
      ],
    );
    const next = await scheduler.enqueue(program.task({ argv: ["true"] }));
    await scheduler.cancel(taskId);
    await scheduler.runUntilIdle();
    expect(await box.statusOf(next.taskRunId)).toBe("DONE");
  });

  it("is the end of a task that must not be repeated by guess", async () => {
    const options = { retry: { attempts: 3 }, onLost: "fail" } as const;
    const { scheduler, taskId } = await loseWarden(program, { shell: SAYS_ITS_GROUP }, options);

    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 1, outcome: "WARDEN_LOST" });
  });

  it("interrupts a function too that ran a process under it, and keeps what it held alone", async () => {
    const withProcess = defineTask<null>({
      kind: "with-process",
      run: async (_, { processes, signal, log }) => {
        const child = await processes.start({
          argv: ["sh", "-c", SAYS_ITS_GROUP],
          cwd: "/",
          env: { PATH: "/usr/bin:/bin" },
          graceMs: 100,
          onOutput: (stream, bytes) => log(bytes, stream),
        });
        await child.ended;
        signal.throwIfAborted();
      },
    });
    const options = { ...ONCE, resources: [{ name: "orders", mode: "exclusive" }] } as const;
    const { scheduler, taskRunId, taskId } = await loseWarden(withProcess, null, options);

    expect((await scheduler.get(taskRunId)).outcome).toBe("WARDEN_LOST");
    expect(await box.query("SELECT reserved_for FROM signalbox.hold WHERE reserved_for IS NOT NULL")).toEqual(
      [{ reserved_for: taskId }],
    );
  });

  it("while a process is being started counts as lost too: nobody knows whether that has begun", async () => {
    const because: string[] = [];
    let asked = (): void => {};
    const processes = createProcesses();
    // Told with every start, just before it is asked for.
    const { start } = processes.of(termsOf(because, () => setImmediate(asked)));
    const warden = wardenOf((await start({ ...SPEC, argv: ["sleep", "100"] })).pid);
    process.kill(warden, "SIGSTOP");
    asked = () => process.kill(warden, "SIGKILL");

    await expect(start({ ...SPEC, argv: ["true"] })).rejects.toThrow("The warden was lost");

    expect(because[0]).toBe("warden_lost");
    await processes.close();
  });

  it("before a process is asked for takes the files that it was to find: it is not begun without them", async () => {
    const because: string[] = [];
    const processes = createProcesses();
    const other = await processes.of(termsOf([])).start({ ...SPEC, argv: ["sleep", "100"] });
    const { makeFolder, start } = processes.of(termsOf(because));
    await makeFolder();
    process.kill(wardenOf(other.pid), "SIGKILL");
    await other.ended;

    await expect(start({ ...SPEC, argv: ["true"] })).rejects.toThrow("The warden was lost");

    expect(because).toEqual(["warden_lost"]);
    await processes.close();
  });

  it.runIf(process.platform === "linux")(
    "leaves nothing behind of a process that kills it with its first act, whether it was told of or not",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "first-act-"));
      const attempts = Array.from({ length: 6 }, async (_, index) => {
        const file = join(folder, String(index));
        const processes = createProcesses();
        const { start } = processes.of({
          lease: { life: "a", leaseMs: 60_000, renewedAtMs: monotonicMs, reportTo: () => {} },
          deadline: null,
          onEnded: () => {},
          tell: () => {},
        });
        const started = start({
          argv: ["/bin/sh", "-c", `echo $$ > ${file}; kill -9 $PPID; sleep 100`],
          cwd: "/",
          env: { PATH: "/usr/bin:/bin" },
          graceMs: 100,
          onOutput: () => {},
        });
        await started.then(async ({ ended }) => await ended).catch(() => {});
        const group = Number(await readFile(file, "latin1"));
        await processes.close();
        return [...livingGroups([group])];
      });

      expect(await Promise.all(attempts)).toEqual(attempts.map(() => []));
      await rm(folder, { recursive: true });
    },
  );
});
