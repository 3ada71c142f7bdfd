import type { Gate } from "./gate.ts";

/** Stops are put by other packages; what their codes mean is theirs to know. */
export const stopped: Gate = ({ taskId }, view) =>
  view
    .stops(taskId)
    .map(({ code: stop, detail, since }) => ({ code: "STOPPED", taskId, stop, detail, since }));
