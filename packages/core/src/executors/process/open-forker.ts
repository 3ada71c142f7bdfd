import { createNodeForker } from "./fork-by-node.ts";
import { openPerlForker } from "./fork-by-perl.ts";
import type { Forker } from "./forker.ts";

/** Where there is no Perl that does, this process forks by itself. */
export async function openForker(folder: string, perl: string, onLost: () => Promise<void>): Promise<Forker> {
  return (await openPerlForker(perl, folder, () => void onLost())) ?? createNodeForker(folder);
}
