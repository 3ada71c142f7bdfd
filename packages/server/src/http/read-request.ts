import type { z } from "zod";
import { RequestError } from "./problem.ts";

/** Reads one part of a request through its schema; refuses it with one sentence that says where. */
export function readRequest<Schema extends z.ZodType>(
  schema: Schema,
  part: "body" | "query",
  value: unknown,
): z.infer<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new RequestError(
    "INVALID_REQUEST",
    issue === undefined ? `${part}: refused` : sentenceOf(part, issue),
  );
}

function sentenceOf(part: string, issue: z.core.$ZodIssue): string {
  const at = issue.path.reduce<string>((path, key) => {
    return typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`;
  }, "");
  const problem = issue.message
    .replace(/^Invalid (input|option): /, "")
    .replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
  return `${at === "" ? part : at}: ${problem}`;
}
