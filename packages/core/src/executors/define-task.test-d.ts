import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { TaskSpec } from "../domain/task-spec.ts";
import { defineTask, type TaskDefinition, type TaskOptions } from "./define-task.ts";
import type { ExecutionContext, Executor } from "./executor.ts";
import type { StandardSchema } from "./standard-schema.ts";

declare const numeral: StandardSchema<string, number>;

describe("the types of a defined task", () => {
  it("come from a schema: what is enqueued is its input, what the function sees its output", () => {
    const double = defineTask({
      kind: "double",
      schema: numeral,
      run: (count, context) => {
        expectTypeOf(count).toEqualTypeOf<number>();
        expectTypeOf(context).toEqualTypeOf<ExecutionContext>();
        return count * 2;
      },
    });

    expectTypeOf(double).toEqualTypeOf<TaskDefinition<string>>();
    expectTypeOf<(typeof double)["task"]>().parameter(0).toEqualTypeOf<string>();
    expectTypeOf<(typeof double)["task"]>().parameter(1).toEqualTypeOf<TaskOptions | undefined>();
    expectTypeOf<(typeof double)["task"]>().returns.toEqualTypeOf<TaskSpec>();
    // @ts-expect-error: a number is what the function sees, not what is enqueued
    double.task(7);
  });

  it("come from a schema of zod, with its defaults optional for the caller only", () => {
    const mail = defineTask({
      kind: "mail",
      schema: z.object({ to: z.string(), copies: z.number().default(1) }),
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ to: string; copies: number }>();
      },
    });

    expectTypeOf<(typeof mail)["task"]>()
      .parameter(0)
      .toEqualTypeOf<{ to: string; copies?: number | undefined }>();
    // @ts-expect-error: without its receiver it is no mail
    mail.task({ copies: 2 });
  });

  it("are unknown without a schema", () => {
    const echo = defineTask({
      kind: "echo",
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<unknown>();
      },
    });

    expectTypeOf(echo).toEqualTypeOf<TaskDefinition<unknown>>();
  });

  it("can be named instead of a schema", () => {
    const greet = defineTask<{ name: string }>({
      kind: "greet",
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ name: string }>();
      },
    });

    expectTypeOf<(typeof greet)["task"]>().parameter(0).toEqualTypeOf<{ name: string }>();
  });

  it("do not let the options replace the kind or the input", () => {
    expectTypeOf<TaskOptions>().not.toHaveProperty("kind");
    expectTypeOf<TaskOptions>().not.toHaveProperty("input");
  });

  it("fit a scheduler, whatever their input", () => {
    expectTypeOf<TaskDefinition<string>>().toExtend<Executor>();
  });
});
