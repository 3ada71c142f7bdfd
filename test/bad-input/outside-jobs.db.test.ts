/** Bad input by outside jobs: handles that cannot be stored, and polls that answer what is no answer. */

import {
  defineTask,
  type ExecutionContext,
  letGo,
  type PollAnswer,
  type TaskRunDetail,
} from "@signalbox/core";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../packages/core/test/fixture.ts";
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

async function endOf(run: (context: ExecutionContext) => unknown): Promise<TaskRunDetail> {
  const odd = defineTask({
    kind: "odd",
    run: (_, context) => run(context),
    poll: async () => ({ kind: "succeeded" }),
  });
  const scheduler = await box.scheduler({ tasks: [odd] });
  const { taskRunId } = await scheduler.enqueue(odd.task(null));
  await scheduler.runUntilIdle();
  return await scheduler.get(taskRunId);
}

function failed(code: string, message: unknown): unknown {
  return expect.objectContaining({ status: "FAILED", outcome: code, error: { code, message } });
}

describe.each(BAD_JSON)("$name", ({ value, problem }) => {
  it("as the output of a poll fails it for good", async () => {
    expect(await endOfPolled({ kind: "succeeded", output: value })).toEqual(
      failed("OUTPUT_NOT_STORABLE", sentence("The output")),
    );
  });

  it("as a handle fails it for good when it is let go, and is refused when it is to be kept", async () => {
    const gone = await endOf(() => letGo({ handle: value, pollInMs: 1, deadlineInMs: 1_000 }));
    const kept = await endOf(async ({ keepHandle }) => await keepHandle(value, { deadlineInMs: 1_000 }));

    expect(gone).toEqual(failed("CANNOT_LET_GO", sentence("The handle")));
    expect(kept).toEqual(failed("HANDLER_FAILED", sentence("The handle")));
  });

  function sentence(what: string): unknown {
    return expect.stringMatching(new RegExp(`^${what}(?: at (?:\\[0\\])+)? ${problem}$`));
  }
});

it.each(BAD_OBJECTS)("$name in a handle is refused in the same way", async ({ value, problem }) => {
  const handle = { a: value };
  const gone = await endOf(() => letGo({ handle, pollInMs: 1, deadlineInMs: 1_000 }));
  const kept = await endOf(async ({ keepHandle }) => await keepHandle(handle, { deadlineInMs: 1_000 }));

  expect(gone).toEqual(failed("CANNOT_LET_GO", `The handle at a ${problem}`));
  expect(kept).toEqual(failed("HANDLER_FAILED", `The handle at a ${problem}`));
});

it("a handle that is none is refused in the same way", async () => {
  const gone = await endOf(() => letGo({ handle: undefined, pollInMs: 1, deadlineInMs: 1_000 }));
  const kept = await endOf(async ({ keepHandle }) => await keepHandle(undefined, { deadlineInMs: 1_000 }));

  expect(gone).toEqual(failed("CANNOT_LET_GO", "The handle is written as nothing, which is not JSON"));
  expect(kept).toEqual(failed("HANDLER_FAILED", "The handle is written as nothing, which is not JSON"));
});

describe("a poll", () => {
  it.each([
    ["nothing", undefined],
    ["no object", 5],
    ["an answer that is none", { kind: "finished" }],
    ["a time that is none", { kind: "running", pollInMs: Number.POSITIVE_INFINITY }],
    ["a failure without a message", { kind: "failed" }],
  ])("that answers %s says nothing about the job: it is asked again", async (_, strange) => {
    const answers = [strange, { kind: "succeeded", output: "in the end" }];

    const end = await endOfPolled(...answers);

    expect(end).toMatchObject({ status: "DONE", output: "in the end" });
  });

  it.each(BAD_TEXT)("whose failure has $name in its message is a failure", async ({ text, kept }) => {
    expect(await endOfPolled({ kind: "failed", message: text })).toEqual(failed("OUTSIDE_JOB_FAILED", kept));
  });
});

/** Asks until there is no answer left. */
async function endOfPolled(...answers: readonly unknown[]): Promise<TaskRunDetail> {
  const left = [...answers];
  const outside = defineTask({
    kind: "outside",
    run: () => letGo({ handle: "job-1", pollInMs: 0, deadlineInMs: 600_000 }),
    poll: async () => left.shift() as PollAnswer,
  });
  const scheduler = await box.scheduler({ tasks: [outside] });
  const { taskRunId } = await scheduler.enqueue(outside.task(null));
  await scheduler.runUntilIdle();
  while (left.length > 0) {
    await box.query("UPDATE signalbox.outside_job SET next_poll_at = clock_timestamp()");
    await scheduler.poll();
    await scheduler.execute();
    await scheduler.settle();
  }
  return await scheduler.get(taskRunId);
}
