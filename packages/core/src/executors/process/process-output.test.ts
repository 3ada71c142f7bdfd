import fc from "fast-check";
import { expect, it } from "vitest";
import { watchForOutputLine } from "./process-output.ts";

/** What it is meant to find, said slowly. */
function lastMarked(text: string): string | null {
  const marked = text.split("\n").filter((line) => line.startsWith("SIGNALBOX_OUTPUT:"));
  return marked.at(-1)?.slice("SIGNALBOX_OUTPUT:".length) ?? null;
}

it("finds the last marked line, in whatever pieces the output comes", () => {
  const part = fc.constantFrom(
    "\n",
    "SIGNALBOX_OUTPUT:",
    "SIGNALBOX_OUT",
    "SIGNALBOX",
    "x",
    "1",
    "PUT:",
    "\n\n",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), fc.array(fc.nat(40), { maxLength: 6 }), (parts, cuts) => {
      const text = parts.join("");
      const line = watchForOutputLine();
      const at = [0, ...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length];
      for (const [index, end] of at.entries())
        if (index > 0) line.read(Buffer.from(text.slice(at[index - 1], end)));

      expect(line.last()?.toString() ?? null).toBe(lastMarked(text));
    }),
    { numRuns: 2_000 },
  );
});

it("keeps little of a line that is too long, and it stays too long", () => {
  const line = watchForOutputLine();
  line.read(Buffer.from("SIGNALBOX_OUTPUT:"));
  for (let count = 0; count < 100; count += 1) line.read(Buffer.alloc(100_000, "1"));

  expect(line.last()).toHaveLength(1_048_577);
});
