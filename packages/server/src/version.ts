import { createRequire } from "node:module";

const own: { readonly version: string } = createRequire(import.meta.url)("../package.json");

export const VERSION: string = own.version;
