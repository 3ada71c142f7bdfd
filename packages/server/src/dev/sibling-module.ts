import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The file of a module beside `base` that a process is started with: `.ts` among the sources, `.js` among
 * what was compiled. (The compiler rewrites imports, not names of files.)
 */
export function siblingModule(base: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(new URL(base).pathname)}`, base));
}
