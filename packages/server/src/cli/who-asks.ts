import { userInfo } from "node:os";
import type { Asked } from "@signalbox/contract";
import type { ChangeOptions } from "./shared-options.ts";

/** Recorded with what is asked for. A container may run under a number that nobody gave a name. */
export function whoAsks({ reason }: Pick<ChangeOptions, "reason"> = {}): Asked & { readonly by: string } {
  return { by: userName(), ...(reason === undefined ? {} : { reason }) };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
