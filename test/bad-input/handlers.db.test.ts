/** Bad input by what a handler returns, throws, logs or lets go with: its task run ends with a code and one sentence. */

import {
  DeferError,
  defineTask,
  type ExecutionContext,
  ExecutionFailedError,
  type TaskRunDetail,
} from "@signalbox/core";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import type { Outcome } from "../../packages/core/src/domain/settlement.ts";
import { createSettler } from "../../packages/core/src/engine/settler.ts";
import { livingGroups } from "../../packages/core/src/executors/process/system-processes.ts";
import type { ManualScheduler } from "../../packages/core/src/testing/manual-scheduler.ts";
import { echo, openFixture } from "../../packages/core/test/fixture.ts";
import { waitUntil } from "../../packages/core/test/wait-until.ts";
import { BAD_JSON, BAD_OBJECTS, BAD_TEXT } from "./values.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(async () => {
  try {
    expect(await box.query("SELECT id FROM signalbox.task_run WHERE status = 'RUNNING'")).toEqual([]);
  } finally {
    await box.clear();
  }
});
afterAll(box.close);

type Run = (context: ExecutionContext) => unknown;
type Ended = Pick<TaskRunDetail, "status" | "outcome" | "error"> & { readonly log: string };

/** Each in its turn, settled together with a good one: that one is DONE whatever its neighbour came to. */
async function endsOf(...runs: readonly Run[]): Promise<readonly Ended[]> {
  const odd = defineTask<number>({
    kind: "odd",
    run: (index, context) => runs[index]?.(context),
    poll: async () => ({ kind: "succeeded" }),
  });
  const scheduler = await box.scheduler({ tasks: [odd, echo] });
  const ends: Ended[] = [];
  for (const [index] of runs.entries()) {
    const { taskRuns } = await scheduler.enqueueMany([odd.task(index), echo.task("neighbour")]);
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    const [bad, good] = await Promise.all(taskRuns.map(async (each) => await scheduler.get(each.taskRunId)));
    expect(good).toMatchObject({ status: "DONE", output: "neighbour" });
    if (bad === undefined) throw new Error("unreachable");
    ends.push({ ...bad, log: await logOf(scheduler, bad.taskRunId) });
  }
  return ends;
}

async function endOf(run: Run): Promise<Ended | undefined> {
  return (await endsOf(run))[0];
}

async function logOf(scheduler: ManualScheduler, id: string): Promise<string> {
  const { entries } = await scheduler.readLog(id);
  return entries.map(({ stream, text }) => `${stream} ${text}`).join("");
}

function failed(code: string, message: unknown): unknown {
  return expect.objectContaining({ status: "FAILED", outcome: code, error: { code, message } });
}

describe.each(BAD_JSON)("$name", ({ value, problem }) => {
  it("as an output fails it for good", async () => {
    expect(await endOf(() => value)).toEqual(failed("OUTPUT_NOT_STORABLE", sentence("The output")));
  });

  function sentence(what: string): unknown {
    return expect.stringMatching(new RegExp(`^${what}(?: at (?:\\[0\\])+)? ${problem}$`));
  }
});

it.each(BAD_OBJECTS)("$name in an output fails it for good", async ({ value, problem }) => {
  expect(await endOf(() => ({ a: value }))).toEqual(
    failed("OUTPUT_NOT_STORABLE", `The output at a ${problem}`),
  );
});

it("an output that cannot be read, or whose members have bad names, fails for good and says so", async () => {
  const [trap, name] = await endsOf(
    () => ({
      toJSON: () => {
        throw new Error("sprung");
      },
    }),
    () => ({ ["a\u0000".padEnd(1_000_000, "b")]: 1 }),
  );

  expect(trap).toEqual(failed("OUTPUT_NOT_STORABLE", "The output cannot be written as JSON: sprung"));
  expect(name).toEqual(
    failed(
      "OUTPUT_NOT_STORABLE",
      `The output at a\ufffd${"b".repeat(58)}… contains a NUL character, which cannot be stored`,
    ),
  );
});

describe("what is thrown", () => {
  it.each(BAD_TEXT)(
    "with $name in its message is kept as far as it can be stored",
    async ({ text, kept }) => {
      const thrown: unknown = text;
      const [error, other] = await endsOf(
        () => {
          throw new Error(text, { cause: text });
        },
        () => {
          throw thrown;
        },
      );

      expect([error, other]).toEqual([failed("HANDLER_FAILED", kept), failed("HANDLER_FAILED", kept)]);
    },
  );

  it("and is no error ends it all the same", async () => {
    const thrown: readonly unknown[] = [
      undefined,
      null,
      0,
      Symbol("odd"),
      { a: 1 },
      Object.create(null),
      [1],
      () => 1,
    ];
    const ends = await endsOf(
      ...thrown.map(
        (each): Run =>
          () => {
            throw each;
          },
      ),
    );

    expect(ends.map(({ outcome, error }) => [outcome, error?.message])).toEqual(
      [
        "undefined",
        "null",
        "0",
        "Symbol(odd)",
        "[object Object]",
        "threw something that cannot be shown",
        "1",
        "() => 1",
      ].map((message) => ["HANDLER_FAILED", message]),
    );
  });

  it("with traps in its message, its stack or its cause ends it all the same", async () => {
    const traps = ["message", "stack", "cause"].map((member) =>
      Object.defineProperty(new Error("trap"), member, {
        get: () => {
          throw new Error("sprung");
        },
      }),
    );
    const ends = await endsOf(
      ...traps.map(
        (trap): Run =>
          () => {
            throw trap;
          },
      ),
    );

    expect(ends.map(({ outcome, error }) => [outcome, error?.message])).toEqual([
      ["HANDLER_FAILED", "threw something that cannot be shown"],
      ["HANDLER_FAILED", "trap"],
      ["HANDLER_FAILED", "trap"],
    ]);
  });

  it("with a code that is none counts as HANDLER_FAILED, and holds nobody up", async () => {
    const codes = [undefined, null, "", "a\u0000b", "\ud800", "X".repeat(1_000_000), {}, "with spaces"];
    const ends = await endsOf(
      ...codes.map(
        (code): Run =>
          () => {
            throw new ExecutionFailedError(code as string, "said");
          },
      ),
    );

    expect(ends).toEqual(codes.map(() => failed("HANDLER_FAILED", "said")));
  });
});

describe("what a handler does with the output of a process", () => {
  const spec = { argv: ["sh", "-c", "echo said; exec sleep 100"], cwd: "/", graceMs: 100 };
  const env = { PATH: "/usr/bin:/bin" };

  it("and throws ends the process and then itself, and nobody else", async () => {
    const groups: number[] = [];
    const throwing: readonly (() => void)[] = [
      () => {
        throw new Error("sprung");
      },
      async () => {
        await Promise.reject(new Error("sprung later"));
      },
    ];
    const ends = await endsOf(
      ...throwing.map(
        (onOutput): Run =>
          async ({ processes }) => {
            const neighbour = await processes.start({ ...spec, env, argv: ["true"], onOutput: () => {} });
            const { pid, ended } = await processes.start({ ...spec, env, onOutput });
            groups.push(pid);
            expect(await neighbour.ended).toMatchObject({ exitCode: 0 });
            await ended.finally(() => expect(livingGroups([pid])).toEqual(new Set()));
          },
      ),
    );

    expect(ends).toEqual([failed("HANDLER_FAILED", "sprung"), failed("HANDLER_FAILED", "sprung later")]);
    expect(livingGroups(groups)).toEqual(new Set());
  });

  it("and throws is its own affair where it does not ask how the process ended", async () => {
    let tell = (): void => {};
    const sprung = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const end = await endOf(async ({ processes }) => {
      const onOutput = (): never => {
        tell();
        throw new Error("sprung");
      };
      await processes.start({ ...spec, env, onOutput });
      await sprung;
    });

    expect(end?.status).toBe("DONE");
  });
});

it("an outcome that the schema refuses holds up nobody who is settled with it", async () => {
  const scheduler = await box.scheduler();
  const { taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)]);
  await scheduler.claim();
  const settler = createSettler({ pool: box.pool("settler"), batchSize: 10, emit: () => {} });
  for (const { claim } of scheduler.held.all()) {
    const outcome: Outcome =
      claim.taskRunId === taskRuns[0]?.taskRunId
        ? { kind: "failed", code: null as never, message: "no code", retryable: false }
        : { kind: "succeeded", output: 2 };
    settler.add(claim, scheduler.instanceId, outcome, scheduler.held);
  }

  for (let left = 1; left > 0; ) left = (await settler.settleOnce()).left;

  const ends = taskRuns.map(async ({ taskRunId }) => (await scheduler.get(taskRunId)).outcome);
  expect(await Promise.all(ends)).toEqual(["RESULT_NOT_STORABLE", "SUCCEEDED"]);
});

it.each(BAD_TEXT)("a deferral that gives $name as its reason is a deferral", async ({ text }) => {
  const [deferred, endless] = await endsOf(
    () => {
      throw new DeferError(60_000, text);
    },
    () => {
      throw new DeferError(JSON.parse("1e100000") as number);
    },
  );

  expect(deferred).toMatchObject({ status: "PENDING", outcome: null });
  expect(endless).toEqual(
    failed("INVALID_ARGUMENT", "delayMs: Infinity is not between 0 and 31536000000 milliseconds"),
  );
});

describe("a log", () => {
  it.each(BAD_TEXT)("with $name is stored as far as it can be", async ({ text, kept }) => {
    const end = await endOf(({ log }) => log(text));

    expect(end).toMatchObject({ status: "DONE" });
    expect(end?.log.startsWith(`task ${kept}`)).toBe(true);
    expect(end?.log.length).toBeLessThan(1_200_000);
  });

  it("of what is no text, or for a stream that there is not, is stored and throws nothing", async () => {
    const end = await endOf(({ log }) => {
      for (const odd of [undefined, 12, new Error("shown"), Object.create(null)]) log(odd as string);
      log("elsewhere", "no-such-stream" as "task");
    });

    expect(end?.status).toBe("DONE");
    expect(end?.log).toMatch(/^task undefined\n12\nError: shown\n[^]*elsewhere\n$/);
  });
});

it("a handler that never returns ends by its timeout or by a cancel, and its slot is known to be taken", async () => {
  const endless = defineTask({ kind: "endless", run: () => new Promise(() => {}) });
  const scheduler = await box.scheduler({ tasks: [endless, echo], obeyMs: 20 });
  const { taskRuns } = await scheduler.enqueueMany([
    endless.task(null, { timeouts: { runningMs: 50 } }),
    endless.task(null),
  ]);
  const [timed, canceled] = taskRuns.map(({ taskRunId }) => taskRunId);
  if (timed === undefined || canceled === undefined) throw new Error("unreachable");
  await scheduler.claim();
  const executions = scheduler.execute();
  await scheduler.cancel(canceled);
  await scheduler.reconcile();
  await executions;
  await scheduler.settle();

  expect(await scheduler.get(timed)).toMatchObject({ status: "FAILED", outcome: "HANDLER_STUCK" });
  expect(await scheduler.get(canceled)).toMatchObject({ status: "CANCELED" });
  expect(scheduler.held.stuck).toBe(2);
  const { taskRunId } = await scheduler.enqueue(echo.task("next"));
  await scheduler.runUntilIdle();
  await waitUntil("the next is DONE", async () => (await box.statusOf(taskRunId)) === "DONE");
});
