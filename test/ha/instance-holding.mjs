/** What an instance holds by its own account: from what it is told, and from what its executions do. */

/** @type {import("@signalbox/core").InstanceId | null} */
let instanceId = null;
/** Claim numbers by task run. */
const held = new Map();
/** Under which claim an execution last parted from its task run. */
const parted = new Map();

export const parting = {
  /** Deferred or let go: it is ours until that is recorded. */
  left: ({ taskRunId, fence }) => void parted.set(taskRunId, fence),
  /** No event tells of a poll that begins. */
  polls: ({ taskRunId, fence }) => {
    held.set(taskRunId, fence);
    parted.set(taskRunId, fence);
  },
};

export function listHeld() {
  return { instanceId, claims: Object.fromEntries(held) };
}

const ENDED = new Set(["task_run.settled", "task_run.refused"]);
const PARTED = new Set(["task_run.deferred", "task_run.let_go", "task_run.polled"]);

export function keepCount(event) {
  const { type, taskRunId } = event;
  if (type === "instance.joined") ({ instanceId } = event);
  else if (type === "task_run.claimed") held.set(taskRunId, event.claimNo);
  else if (ENDED.has(type)) forget(taskRunId, event.claimNo);
  // Recorded late, it may be ours again by now, under a later claim.
  else if (PARTED.has(type)) forget(taskRunId, parted.get(taskRunId));
  else if (type === "task_run.handed_back") forget(taskRunId, event.claimNo);
  else if (type === "instance.fenced" || type === "instance.left") {
    instanceId = null;
    held.clear();
    parted.clear();
  }
}

/** Without a number: whatever claim it is. */
function forget(taskRunId, claimNo) {
  if (claimNo !== undefined && held.get(taskRunId) !== claimNo) return;
  held.delete(taskRunId);
  parted.delete(taskRunId);
}
