/** What a log says of an error: its name, code, message and stack, and none of the fields that somebody put on it. */

import { shortened } from "./safe-line.ts";

export interface DescribedError {
  readonly name: string;
  readonly code: string | null;
  readonly message: string;
  readonly stack: string | null;
}

const NAME_BYTES = 200;
const TEXT_BYTES = 2_400;

/** Whatever was thrown. Never throws itself. */
export function describeError(error: unknown): DescribedError {
  try {
    if (!(error instanceof Error)) return notAnError(shortened(String(error), TEXT_BYTES));
    const code = "code" in error && typeof error.code === "string" ? error.code : null;
    return {
      name: shortened(error.name, NAME_BYTES),
      code: code === null ? null : shortened(code, NAME_BYTES),
      message: shortened(messageOf(error), TEXT_BYTES),
      stack: error.stack === undefined ? null : shortened(error.stack, TEXT_BYTES),
    };
  } catch {
    return notAnError("It cannot be shown");
  }
}

function notAnError(message: string): DescribedError {
  return { name: "not an error", code: null, message, stack: null };
}

/** A host with several addresses fails with one error for each of them, and none of its own. */
function messageOf(error: Error): string {
  if (error.message !== "" || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => describeError(each).message).join("; ");
}
