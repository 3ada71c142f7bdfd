/** Tasks as processes, with a real warden and real children. */

import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, inject, it, vi } from "vitest";
import { deferred } from "../../../test/deferred.ts";
import { openFixture } from "../../../test/fixture.ts";
import { waitUntil } from "../../../test/wait-until.ts";
import type { TaskRunDetail } from "../../domain/task-run.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";
import { defineTask } from "../define-task.ts";
import { defineProcess } from "./define-process.ts";
import type { ProcessInput } from "./process-input.ts";

const box = await openFixture(inject("adminUrl"));
const program = defineProcess({ allowShell: true, graceMs: 200 });
afterEach(box.clear);
afterAll(box.close);

async function open(): Promise<ManualScheduler> {
  return await box.scheduler({ tasks: [program] });
}

async function run(input: ProcessInput): Promise<TaskRunDetail & { readonly log: string }> {
  const scheduler = await open();
  const { taskRunId } = await scheduler.enqueue(program.task(input));
  await scheduler.runUntilIdle();
  return { ...(await scheduler.get(taskRunId)), log: await logOf(scheduler, taskRunId) };
}

async function logOf(scheduler: ManualScheduler, id: string): Promise<string> {
  const { entries } = await scheduler.readLog(id, { limit: 1_000 });
  return entries.map(({ stream, text }) => (stream === "system" ? "" : text)).join("");
}

/** The processes of a task run, by what they carry in their environment. */
function processesOf(taskRunId: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`SIGNALBOX_TASK_RUN_ID=${taskRunId}`);
      } catch {
        return false;
      }
    });
}

describe("a process", () => {
  it("gets its input by a file and gives its output by a file", async () => {
    const { status, output } = await run({
      shell: `printf '{"was":%s}' "$(cat "$SIGNALBOX_INPUT_FILE")" > "$SIGNALBOX_OUTPUT_FILE"`,
      input: { a: [1, "zwei"] },
    });

    expect({ status, output }).toEqual({ status: "DONE", output: { was: { a: [1, "zwei"] } } });
  });

  it("gives its output by its last line that says so, and only a whole line counts", async () => {
    const { output } = await run({
      shell: `echo 'SIGNALBOX_OUTPUT:1'; echo 'no SIGNALBOX_OUTPUT:2'; printf 'SIGNALBOX_OUTPUT:{"n":3}'; printf '\n'; echo done`,
    });

    expect(output).toEqual({ n: 3 });
  });

  it("has no output where it gives none, and reads what it is given on standard input", async () => {
    const { status, output, log } = await run({ argv: ["cat"], stdin: "a\nb" });

    expect({ status, output, log }).toEqual({ status: "DONE", output: null, log: "a\nb" });
  });

  it("finds nothing in its environment but what it was given", async () => {
    const scheduler = await open();
    const { taskRunId } = await scheduler.enqueue(program.task({ argv: ["env"], env: { COLOR: "blue" } }));
    await scheduler.runUntilIdle();

    const names = (await logOf(scheduler, taskRunId)).trim().split("\n");
    expect(names.map((entry) => entry.replace(/=.*/, "")).toSorted()).toEqual([
      "COLOR",
      "PATH",
      "SIGNALBOX_ATTEMPT",
      "SIGNALBOX_FENCE",
      "SIGNALBOX_INPUT_FILE",
      "SIGNALBOX_OUTPUT_FILE",
      "SIGNALBOX_PROCESS_ID",
      "SIGNALBOX_TASK_RUN_ID",
    ]);
    expect(names).toContain(`SIGNALBOX_TASK_RUN_ID=${taskRunId}`);
    expect(names).toContain("SIGNALBOX_ATTEMPT=1");
  });

  it("cannot read a secret of the instance in its parent's environment", async () => {
    const { log } = await run({ shell: "tr '\\0' '\\n' < /proc/$PPID/environ | cut -d= -f1" });

    expect(log).not.toMatch(/PATH|HOME|DATABASE/);
  });

  it("has no connection open but its two outputs", async () => {
    const { log } = await run({
      shell: "ls -l /proc/$$/fd | grep socket: | sed 's/.* \\([0-9]*\\) -> .*/\\1/'",
    });

    expect(log).toBe("1\n2\n");
  });

  it("gets its arguments as they are", async () => {
    const hostile = ["; touch /tmp/x", "$(id)", "`id`", "a\nb", "*", "-n", "ü🙂"];
    const { log } = await run({ argv: ["printf", "<%s>", ...hostile] });

    expect(log).toBe(hostile.map((argument) => `<${argument}>`).join(""));
  });

  it("leaves no file behind", async () => {
    const scheduler = await open();
    const { taskRunId } = await scheduler.enqueue(program.task({ shell: 'dirname "$SIGNALBOX_INPUT_FILE"' }));
    await scheduler.runUntilIdle();
    const folder = (await logOf(scheduler, taskRunId)).trim();

    expect(folder).toContain("signalbox-");
    expect(readdirSync(join(folder, "..")).filter((name) => name.startsWith("task-"))).toEqual([]);
    await box.clear();
    expect(readdirSync(tmpdir()).filter((name) => folder.split("/").includes(name))).toEqual([]);
  });
});

describe("a process that fails", () => {
  it("says its exit code, its pid and start time, and what it said last", async () => {
    const { status, outcome, error } = await run({ shell: "echo no such table >&2; exit 3" });

    expect({ status, outcome }).toEqual({ status: "FAILED", outcome: "PROCESS_EXITED" });
    expect(error?.message).toMatch(/^Process \d+ \(start time \d+\) exited with code 3: no such table$/);
  });

  it("says the signal that killed it", async () => {
    const { outcome, error } = await run({ shell: "kill -9 $$" });

    expect(outcome).toBe("PROCESS_KILLED");
    expect(error?.message).toContain("was killed by SIGKILL (out of memory?)");
  });

  it("that could not be started says why", async () => {
    const { outcome, error } = await run({ argv: ["no-such-program"] });

    expect(outcome).toBe("PROCESS_NOT_STARTED");
    expect(error?.message).toContain("ENOENT");
  });

  it.each([
    [
      "there is none",
      "/no-such-folder",
      /No folder can be made in \/no-such-folder \(ENOENT\): .* set TMPDIR/,
    ],
    [
      "nobody can write there",
      "/dev/null",
      /No folder can be made in \/dev\/null \(ENOTDIR\): .* set TMPDIR/,
    ],
    [
      "its name is too long",
      `/tmp/${"x".repeat(90)}`,
      /is too long for sockets \(.* of at most \d+\): set TMPDIR/,
    ],
  ])(
    "that finds no room for its files says why, and the next one starts when there is room (%s)",
    async (_, folder, why) => {
      const scheduler = await open();
      const { taskRunId } = await scheduler.enqueue(program.task({ argv: ["true"] }));
      vi.stubEnv("TMPDIR", folder);
      await scheduler.runUntilIdle();
      vi.unstubAllEnvs();
      const next = await scheduler.enqueue(program.task({ argv: ["true"] }));
      await scheduler.runUntilIdle();

      const { outcome, error } = await scheduler.get(taskRunId);
      expect(outcome).toBe("PROCESS_NOT_STARTED");
      expect(error?.message).toMatch(why);
      expect(error?.message).not.toContain("\n");
      expect(await box.statusOf(next.taskRunId)).toBe("DONE");
    },
  );

  it.each([
    ["is not JSON", "echo '{' > $SIGNALBOX_OUTPUT_FILE"],
    ["is too long to be stored", "head -c 2000000 /dev/zero > $SIGNALBOX_OUTPUT_FILE"],
    ["is a line that is too long", "printf SIGNALBOX_OUTPUT:; head -c 2000000 /dev/zero; echo"],
    ["has what cannot be stored in it", `echo '"\\u0000"' > $SIGNALBOX_OUTPUT_FILE`],
  ])("because its output %s is not tried again", async (_, shell) => {
    const { status, outcome } = await run({ shell });

    expect({ status, outcome }).toEqual({ status: "FAILED", outcome: "OUTPUT_NOT_STORABLE" });
  });

  it("is tried again as the task's policy says", async () => {
    const scheduler = await open();
    const { taskRunId, taskId } = await scheduler.enqueue(
      program.task(
        { shell: "test $SIGNALBOX_ATTEMPT = 2" },
        { retry: { attempts: 2, backoff: { firstMs: 0 } } },
      ),
    );
    await scheduler.runUntilIdle();

    expect(await box.statusOf(taskRunId)).toBe("FAILED");
    await waitUntil("the second attempt ends", async () => {
      await scheduler.runUntilIdle();
      return (await scheduler.get(taskId)).status === "DONE";
    });
  });
});

describe("an input", () => {
  it.each<[string, unknown, string]>([
    ["without argv", {}, "argv"],
    ["that is no object", "ls", ""],
    ["with an empty argv", { argv: [] }, "argv"],
    ["with an argument that is no text", { argv: ["ls", 1] }, "argv[1]"],
    ["with argv and shell", { argv: ["ls"], shell: "ls" }, "argv"],
    ["with an unknown field", { argv: ["ls"], timeout: 3 }, "timeout"],
    ["with LD_PRELOAD", { argv: ["ls"], env: { LD_PRELOAD: "x.so" } }, "env.LD_PRELOAD"],
    ["with NODE_OPTIONS", { argv: ["ls"], env: { NODE_OPTIONS: "-r x" } }, "env.NODE_OPTIONS"],
    ["with BASH_ENV", { argv: ["ls"], env: { BASH_ENV: "x" } }, "env.BASH_ENV"],
    ["with PATH", { argv: ["ls"], env: { PATH: "." } }, "env.PATH"],
    ["with GIT_SSH", { argv: ["ls"], env: { GIT_SSH: "x" } }, "env.GIT_SSH"],
    ["with PYTHONPATH", { argv: ["ls"], env: { PYTHONPATH: "x" } }, "env.PYTHONPATH"],
    ["with a fence of its own", { argv: ["ls"], env: { SIGNALBOX_FENCE: "9" } }, "env.SIGNALBOX_FENCE"],
    ["with a variable that is none", { argv: ["ls"], env: { "A=B": "x" } }, "env"],
    ["with an argument that no system takes", { argv: ["ls", "x".repeat(140_000)] }, "argv[1]"],
    ["with a grace of no length", { argv: ["ls"], graceMs: -1 }, "graceMs"],
  ])("%s is refused when it is enqueued", async (_, input, at) => {
    const scheduler = await open();

    const refused = scheduler.enqueue({ kind: "process", input });

    await expect(refused).rejects.toMatchObject({ code: "INVALID_INPUT", details: { at } });
  });

  it("may ask for a shell only where the definition allows it", async () => {
    const strict = defineProcess();

    await expect(strict.checkInput?.({ shell: "ls" })).rejects.toMatchObject({ details: { at: "shell" } });
  });

  it("may ask for a folder below the root, and no link leads out of it", async () => {
    const root = await mkdtemp(join(tmpdir(), "process-root-"));
    await symlink("/", join(root, "out"));
    const rooted = defineProcess({ root });
    const scheduler = await box.scheduler({ tasks: [rooted] });
    const cwds = [".", "..", "out", "/", "/etc/.."];
    const { taskRuns } = await scheduler.enqueueMany(cwds.map((cwd) => rooted.task({ argv: ["pwd"], cwd })));
    await scheduler.runUntilIdle();

    const details = await Promise.all(taskRuns.map(async ({ taskRunId }) => await scheduler.get(taskRunId)));
    expect(details.map(({ outcome }) => outcome)).toEqual([
      "SUCCEEDED",
      ...["..", "out", "/", "/etc/.."].map(() => "INVALID_INPUT"),
    ]);
    await rm(root, { recursive: true });
  });
});

describe("the group of a process", () => {
  it("is gone before its task run ends, also what ignores TERM", async () => {
    const { status, taskRunId } = await run({
      shell: `(trap '' TERM; while :; do sleep 1; done) & sleep 100 & echo started`,
    });

    expect(status).toBe("DONE");
    expect(processesOf(taskRunId)).toEqual([]);
  });

  it("gets TERM, and KILL after the grace, when the task run is canceled", async () => {
    const scheduler = await open();
    const { taskRunId } = await scheduler.enqueue(
      program.task({
        shell: `trap 'echo heard' TERM; (trap '' TERM; sleep 100) & echo ready; while :; do sleep 0.05; done`,
      }),
    );
    await scheduler.claim();
    const execution = scheduler.execute();
    await waitUntil("it is ready", async () => (await logOf(scheduler, taskRunId)).includes("ready"));

    await scheduler.cancel(taskRunId);
    await scheduler.reconcile();
    await execution;
    expect(processesOf(taskRunId)).toEqual([]);
    await scheduler.settle();

    expect(await box.statusOf(taskRunId)).toBe("CANCELED");
    expect(await logOf(scheduler, taskRunId)).toContain("heard");
  });

  it("that ends well because it was told to has not succeeded", async () => {
    const scheduler = await open();
    const shell = "trap 'exit 0' TERM; while :; do sleep 0.05; done";
    const timeouts = { runningMs: 1_000 };
    const { taskRunId } = await scheduler.enqueue(program.task({ shell, graceMs: 5_000 }, { timeouts }));
    await scheduler.runUntilIdle();

    expect((await scheduler.get(taskRunId)).outcome).toBe("RUN_TIMEOUT");
  });

  it("has its grace when it ran for too long, and is gone before that is recorded", async () => {
    const scheduler = await box.scheduler({ tasks: [program], obeyMs: 0 });
    const { taskRunId } = await scheduler.enqueue(
      program.task(
        { shell: `trap '' TERM; while :; do sleep 0.05; done`, graceMs: 300 },
        { timeouts: { runningMs: 300 } },
      ),
    );
    await scheduler.claim();
    await scheduler.execute();
    expect(processesOf(taskRunId)).toEqual([]);
    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "FAILED", outcome: "RUN_TIMEOUT" });
  });

  it("does not outlive the function that started it, whether that returns or ignores its signal", async () => {
    const careless = defineTask<{ waits: boolean }>({
      kind: "careless",
      run: async ({ waits }, { processes, taskRunId }) => {
        const child = await processes.start({
          argv: ["sleep", "100"],
          cwd: "/",
          env: { PATH: "/usr/bin:/bin", SIGNALBOX_TASK_RUN_ID: taskRunId },
          graceMs: 100,
          onOutput: () => {},
        });
        if (!waits) return;
        await child.ended;
        await goOn.promise;
      },
    });
    const goOn = deferred();
    const scheduler = await box.scheduler({ tasks: [careless], obeyMs: 50 });
    const timeouts = { runningMs: 200 };
    const { taskRuns } = await scheduler.enqueueMany([
      careless.task({ waits: false }),
      careless.task({ waits: true }, { timeouts }),
    ]);
    await scheduler.claim();
    await scheduler.execute();
    expect(taskRuns.flatMap(({ taskRunId }) => processesOf(taskRunId))).toEqual([]);
    await scheduler.settle();

    const ends = await Promise.all(taskRuns.map(async ({ taskRunId }) => await scheduler.get(taskRunId)));
    expect(ends.map(({ outcome }) => outcome)).toEqual(["SUCCEEDED", "HANDLER_STUCK"]);
    goOn.resolve();
  });

  it("does not keep its task run from ending when something has left the group and holds its output open", async () => {
    const { status, log, taskRunId } = await run({
      shell: `flag="$SIGNALBOX_OUTPUT_FILE.away"
              setsid sh -c 'touch "$1"; exec sleep 100' sh "$flag" & until [ -e "$flag" ]; do sleep 0.01; done
              echo away`,
    });
    const escaped = processesOf(taskRunId);
    for (const pid of escaped) process.kill(pid, "SIGKILL");

    expect({ status, log }).toEqual({ status: "DONE", log: "away\n" });
    // The documented limit: whoever makes a session of its own is not in the group.
    expect(escaped).toHaveLength(1);
  });

  it("ends in its own time when somebody removes its folder, and the next process gets a new one", async () => {
    const scheduler = await open();
    const shell =
      'read line < "$SIGNALBOX_INPUT_FILE"; dirname "$(dirname "$SIGNALBOX_INPUT_FILE")"; while test -e "$GATE"; do sleep 0.02; done; echo "$line"';
    const gate = await mkdtemp(join(tmpdir(), "process-gate-"));
    const first = await scheduler.enqueue(program.task({ shell, env: { GATE: gate }, input: "read" }));
    await scheduler.claim();
    const execution = scheduler.execute();
    await waitUntil("it says its folder", async () =>
      (await logOf(scheduler, first.taskRunId)).includes("\n"),
    );
    await rm((await logOf(scheduler, first.taskRunId)).trim(), { recursive: true });

    const next = await scheduler.enqueue(program.task({ shell: "echo $PPID" }));
    await scheduler.claim();
    const second = scheduler.execute();
    await waitUntil("the next one ends", async () => (await logOf(scheduler, next.taskRunId)).includes("\n"));
    await rm(gate, { recursive: true });
    await Promise.all([execution, second]);
    await scheduler.settle();

    expect(await box.statusOf(next.taskRunId)).toBe("DONE");
    expect(await logOf(scheduler, first.taskRunId)).toContain('"read"');
    expect(await box.statusOf(first.taskRunId)).toBe("DONE");
  });
});
