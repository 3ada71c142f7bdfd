import { describe, expect, it } from "vitest";
import { z } from "zod";
import { exclusive } from "../domain/resource.ts";
import { executionContext } from "../testing/builders.ts";
import { defineTask, NonRetryableError } from "./define-task.ts";
import type { SchemaIssue, StandardSchema } from "./standard-schema.ts";

/** Written by hand: text in, number out. */
function numeral(
  issues: readonly SchemaIssue[] = [{ message: "expected digits" }],
): StandardSchema<string, number> {
  return {
    "~standard": {
      version: 1,
      vendor: "by-hand",
      validate: (value) =>
        typeof value === "string" && /^\d+$/.test(value) ? { value: Number(value) } : { issues },
    },
  };
}

describe("a defined task", () => {
  it("makes a spec with its kind and the input, ready to be enqueued", () => {
    const greet = defineTask({ kind: "greet", schema: numeral(), run: () => null });

    expect(greet.task("7")).toEqual({ kind: "greet", input: "7" });
    expect(greet.task("7", { priority: 1, resources: [exclusive("prod/orders")] })).toEqual({
      kind: "greet",
      input: "7",
      priority: 1,
      resources: [exclusive("prod/orders")],
    });
  });

  it("keeps its kind and input, whatever the options of an untyped caller say", () => {
    const greet = defineTask({ kind: "greet", run: () => null });
    const options: object = { kind: "other", input: "other" };

    expect(greet.task("7", options)).toEqual({ kind: "greet", input: "7" });
  });

  it("gives its function the input as it is when it has no schema", async () => {
    const echo = defineTask({ kind: "echo", run: (input) => ({ got: input }) });

    await expect(echo.checkInput?.({ a: 1 })).resolves.toBeUndefined();
    await expect(echo.execute({ a: 1 }, executionContext())).resolves.toEqual({ got: { a: 1 } });
  });

  it("gives its function the context of the execution", async () => {
    const context = executionContext({ attempt: 3, fence: 41 });
    const tell = defineTask({ kind: "tell", run: (_, given) => given });

    await expect(tell.execute(null, context)).resolves.toBe(context);
  });

  it("resolves with what its function resolves with", async () => {
    const slow = defineTask({ kind: "slow", run: async () => await Promise.resolve("late") });

    await expect(slow.execute(null, executionContext())).resolves.toBe("late");
  });

  it("rejects with what its function throws, also before its first await", async () => {
    const end = new NonRetryableError("no such customer");
    const fail = defineTask({
      kind: "fail",
      run: () => {
        throw end;
      },
    });

    await expect(fail.execute(null, executionContext())).rejects.toBe(end);
    expect(end.name).toBe("NonRetryableError");
  });
});

describe("a schema written by hand", () => {
  const double = defineTask({ kind: "double", schema: numeral(), run: (count) => count * 2 });

  it("lets the function see what the schema made of the input", async () => {
    await expect(double.execute("21", executionContext())).resolves.toBe(42);
  });

  it("accepts a right input before it is enqueued", async () => {
    await expect(double.checkInput?.("21")).resolves.toBeUndefined();
  });

  it("refuses a wrong input before it is enqueued, and again before the function sees it", async () => {
    const refusal = {
      code: "INVALID_INPUT",
      message: 'The input of "double" is not valid: expected digits',
    };

    await expect(double.checkInput?.("many")).rejects.toMatchObject(refusal);
    await expect(double.execute("many", executionContext())).rejects.toMatchObject(refusal);
  });

  it("is believed when it refuses without giving a reason", async () => {
    const mute = defineTask({ kind: "mute", schema: numeral([]), run: () => null });

    await expect(mute.checkInput?.("many")).rejects.toThrow(
      'The input of "mute" is not valid: refused by its schema',
    );
  });

  it("may take its time", async () => {
    const { validate } = numeral()["~standard"];
    const schema: StandardSchema<string, number> = {
      "~standard": { version: 1, vendor: "by-hand", validate: async (value) => await validate(value) },
    };
    const patient = defineTask({ kind: "patient", schema, run: (count) => count + 1 });

    await expect(patient.execute("1", executionContext())).resolves.toBe(2);
    await expect(patient.checkInput?.(1)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});

describe("a schema of zod", () => {
  const mail = defineTask({
    kind: "mail",
    schema: z.object({ to: z.array(z.string().min(3)), copies: z.number().default(1) }),
    run: ({ to, copies }) => `${to.join()} x${copies}`,
  });

  it("fills in its defaults before the function sees the input", async () => {
    await expect(mail.execute({ to: ["ada"] }, executionContext())).resolves.toBe("ada x1");
  });

  it("refuses with the path and the sentence of the first problem", async () => {
    await expect(mail.checkInput?.({ to: ["ada", "b"] })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      details: { kind: "mail", at: "to.1" },
    });
  });
});
