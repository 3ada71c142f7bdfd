/** Writes docs/reference/api.md anew from the sources. */
import { writeFileSync } from "node:fs";
import { renderApi } from "./render-api.ts";

writeFileSync(new URL("../docs/reference/api.md", import.meta.url), renderApi());
