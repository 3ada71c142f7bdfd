import type { Gate } from "./gate.ts";

export const runAt: Gate = ({ runAt }, { now }) =>
  runAt !== null && runAt.getTime() > now.getTime() ? [{ code: "RUN_AT", runAt }] : [];
