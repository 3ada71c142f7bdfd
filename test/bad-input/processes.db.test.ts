/** Bad input by what a process prints, writes or leaves behind: its task run ends with a code and one sentence. */

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { defineProcess, type TaskRunDetail } from "@signalbox/core";
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import type { ManualScheduler } from "../../packages/core/src/testing/manual-scheduler.ts";
import { echo, openFixture } from "../../packages/core/test/fixture.ts";
import { processesOf } from "../ha/task-processes.ts";
import { BAD_JSON } from "./values.ts";

const box = await openFixture(inject("adminUrl"));
const program = defineProcess({ allowShell: true, graceMs: 200 });
let scheduler: ManualScheduler;

beforeEach(async () => {
  scheduler = await box.scheduler({ tasks: [program, echo] });
});
afterEach(async () => {
  try {
    const { taskRunId } = await scheduler.enqueue(echo.task("next"));
    await scheduler.runUntilIdle();
    expect(await box.statusOf(taskRunId)).toBe("DONE");
    expect(await box.query("SELECT id FROM signalbox.task_run WHERE status = 'RUNNING'")).toEqual([]);
  } finally {
    await box.clear();
  }
});
afterAll(box.close);

async function run(shell: string): Promise<TaskRunDetail & { readonly log: string }> {
  const { taskRunId } = await scheduler.enqueue(program.task({ shell }));
  await scheduler.runUntilIdle();
  const { entries } = await scheduler.readLog(taskRunId, { limit: 1_000 });
  const printed = entries.filter(({ stream }) => stream !== "system");
  return { ...(await scheduler.get(taskRunId)), log: printed.map(({ text }) => text).join("") };
}

function notStorable(message: unknown): unknown {
  const code = "OUTPUT_NOT_STORABLE";
  return expect.objectContaining({ status: "FAILED", outcome: code, output: null, error: { code, message } });
}

/** How a shell writes it: the long ones are made there, because an argument has a limit of its own. */
const WRITES: Readonly<Record<string, string>> = {
  "nesting 20,000 deep": "head -c 20000 /dev/zero | tr '\\0' '['; head -c 20000 /dev/zero | tr '\\0' ']'",
  "10 MB": "printf '\"'; head -c 10000000 /dev/zero | tr '\\0' x; printf '\"'",
};

describe.each(BAD_JSON)("$name", ({ name, text, problem }) => {
  const write = WRITES[name] ?? `printf '%s' '${text}'`;
  // So much is not even read.
  const said = name === "10 MB" ? "is longer than 1048576 bytes" : problem;
  const sentence = expect.stringMatching(new RegExp(`^The output(?: at (?:\\[0\\])+)? ${said}$`));

  it("as the output of a process, by its file or by a line, fails it for good", async () => {
    expect(await run(`(${write}) > "$SIGNALBOX_OUTPUT_FILE"`)).toEqual(notStorable(sentence));
    expect(await run(`printf SIGNALBOX_OUTPUT:; ${write}; echo`)).toEqual(notStorable(sentence));
  });
});

describe("invalid UTF-8", () => {
  it("in an output is refused, not changed into something else", async () => {
    const sentence = "The output is not UTF-8";

    expect(await run(`printf '"\\377"' > "$SIGNALBOX_OUTPUT_FILE"`)).toEqual(notStorable(sentence));
    expect(await run(`printf 'SIGNALBOX_OUTPUT:"\\377"\\n'`)).toEqual(notStorable(sentence));
  });

  it("on both outputs is shown as far as it can be, also in the message of a failure", async () => {
    const { outcome, error, log } = await run(`printf 'a\\377b\\0c\\n'; printf 'd\\376e\\0f' >&2; exit 3`);

    expect(outcome).toBe("PROCESS_EXITED");
    expect(error?.message).toMatch(/^Process \d+ \(start time \d+\) exited with code 3: d\ufffde\ufffdf$/);
    // Two streams: which of them comes first is not said.
    expect(log.replace("d\ufffde\ufffdf", "")).toBe("a\ufffdb\ufffdc\n");
  });
});

describe("an output file", () => {
  it("that has become a pipe nobody writes to is not waited for", async () => {
    expect(await run(`rm "$SIGNALBOX_OUTPUT_FILE"; mkfifo "$SIGNALBOX_OUTPUT_FILE"`)).toEqual(
      notStorable("The output file is not a file any more"),
    );
  });

  it("that has become a folder or a device is refused, not taken for no output", async () => {
    const sentence = "The output file is not a file any more";

    expect(await run(`rm "$SIGNALBOX_OUTPUT_FILE"; mkdir "$SIGNALBOX_OUTPUT_FILE"`)).toEqual(
      notStorable(sentence),
    );
    expect(await run(`ln -sf /dev/zero "$SIGNALBOX_OUTPUT_FILE"`)).toEqual(notStorable(sentence));
  });

  it("that has become a link says nothing of what it leads to", async () => {
    expect(await run(`ln -sf /etc/passwd "$SIGNALBOX_OUTPUT_FILE"`)).toEqual(
      notStorable("The output file is not a file any more"),
    );
  });

  it("that was removed is no output, also together with its folder", async () => {
    expect(await run(`rm "$SIGNALBOX_OUTPUT_FILE"`)).toMatchObject({ status: "DONE", output: null });
    expect(await run(`rm -r "$(dirname "$SIGNALBOX_OUTPUT_FILE")"`)).toMatchObject({ status: "DONE" });
  });
});

it("a folder that cannot be removed changes nothing about how the process ended", async () => {
  const deep = `cd "$(dirname "$SIGNALBOX_OUTPUT_FILE")"; pwd; i=0
    while [ $i -lt 30 ]; do d=$(printf %0200d 0); mkdir $d; cd $d; i=$((i + 1)); done`;
  const good = await run(`${deep}; echo SIGNALBOX_OUTPUT:1`);
  const bad = await run(`${deep}; exit 3`);
  // Longer than any path may be: it takes a program that goes down step by step.
  for (const { log } of [good, bad]) execFileSync("rm", ["-rf", log.split("\n")[0] ?? ""]);

  expect(good).toMatchObject({ status: "DONE", output: 1 });
  expect(bad).toMatchObject({ status: "FAILED", outcome: "PROCESS_EXITED" });
});

describe("a process", () => {
  it("that ignores TERM is killed after its grace, and its task run ends as what it was told to stop for", async () => {
    const { taskRunId } = await scheduler.enqueue(
      program.task({ shell: "trap '' TERM; while :; do sleep 0.05; done" }, { timeouts: { runningMs: 100 } }),
    );
    await scheduler.runUntilIdle();

    expect(await scheduler.get(taskRunId)).toMatchObject({ outcome: "RUN_TIMEOUT" });
    expect(processesOf([taskRunId])).toEqual([]);
  });

  it("that forks a daemon ends without it: within its group the daemon is killed, outside it lives on", async () => {
    const inside = await run("(trap '' TERM HUP; exec sleep 300) & echo left");
    const outside = await run(`flag="$SIGNALBOX_OUTPUT_FILE.away"
      setsid sh -c 'touch "$1"; exec sleep 300' sh "$flag" & until [ -e "$flag" ]; do sleep 0.01; done`);
    const escaped = processesOf([outside.taskRunId]);
    for (const { pid } of escaped) process.kill(pid, "SIGKILL");

    expect([inside.status, outside.status]).toEqual(["DONE", "DONE"]);
    expect(processesOf([inside.taskRunId])).toEqual([]);
    expect(escaped).toHaveLength(1);
  });

  it("that closes its outputs or is killed by itself ends its task run", async () => {
    expect(await run("exec >&- 2>&-; exit 0")).toMatchObject({ status: "DONE" });
    expect(await run("kill -9 $$")).toMatchObject({ outcome: "PROCESS_KILLED" });
  });
});

it("leaves no folder of a task behind", async () => {
  const { log } = await run(`dirname "$(dirname "$SIGNALBOX_OUTPUT_FILE")"`);

  expect(readdirSync(log.trim()).filter((name) => name.startsWith("task-"))).toEqual([]);
});
