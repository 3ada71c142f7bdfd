/** Holds docs/reference/faults.md: every test that it names is there, and no long trial with faults is left out. */
import { holdsItsTests } from "./named-tests.ts";

holdsItsTests("docs/reference/faults.md", {
  rowsAtLeast: 25,
  folder: "test/long",
  but: ["memory.long.test.ts", "model.long.test.ts", "packed.long.test.ts"],
});
