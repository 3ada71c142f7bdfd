import type { Gate } from "./gate.ts";

export const noExecutor: Gate = ({ kind }, view) =>
  view.isServed(kind) ? [] : [{ code: "NO_EXECUTOR", kind }];
