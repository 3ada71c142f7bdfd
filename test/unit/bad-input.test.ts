/** Holds docs/reference/bad-input.md: every test that it names is there, and no file of its tier is left out. */
import { holdsItsTests } from "./named-tests.ts";

holdsItsTests("docs/reference/bad-input.md", { rowsAtLeast: 25, folder: "test/bad-input" });
