/** Writes docs/reference/limits.md anew from the sources. */
import { writeFileSync } from "node:fs";
import { renderLimits } from "./render-limits.ts";

writeFileSync(new URL("../docs/reference/limits.md", import.meta.url), renderLimits());
