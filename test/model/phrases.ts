/** Steps that mean little without each other; drawn one by one they would seldom meet. */

import fc from "fast-check";
import { bulk, nat, outcome, scope, some, someEnds, wish } from "./draw-parts.ts";
import {
  type Bulk,
  type Ended,
  KINDS,
  type OutcomeName,
  PLAIN,
  QUEUES,
  RESOURCES,
  type Scope,
  type Step,
  type Wish,
} from "./steps.ts";

/**
 * Somebody waits in two lines for one of the resources, and one who came later goes first at the other: its version is
 * smaller. On resources of their own, where nobody else comes in between.
 */
const OVERTAKING: readonly Step[] = [
  { ...PLAIN, resources: [{ name: "x", mode: "exclusive" as const }] },
  {
    ...PLAIN,
    resources: [
      { name: "x", mode: "exclusive" as const },
      { name: "y", mode: "exclusive" as const },
    ],
    version: "2",
  },
  { ...PLAIN, resources: [{ name: "y", mode: "shared" as const }], version: "1" },
].flatMap((task): readonly Step[] => [{ do: "enqueue", tasks: [task] }, { do: "promote" }]);

interface Drawn {
  readonly instance: number;
  readonly which: number;
  readonly outcomes: readonly OutcomeName[];
  readonly what: Scope;
  readonly filter: Bulk;
  readonly statuses: readonly Ended[];
  readonly tasks: readonly Wish[];
}

/** Of what came last. */
const CANCELS: readonly Step[] = [0, 1, 2, 3, 4, 5, 6, 7].map((which) => ({
  do: "cancel",
  which,
  byTask: true,
}));

const RELEASES: readonly Step[] = RESOURCES.map((resource) => ({ do: "releaseReservation", resource }));

function settleWith(instance: number, outcomes: readonly OutcomeName[], losesAnswer = false): Step {
  return { do: "settle", instance, outcomes, losesAnswer };
}

/** From a claim to an outside job, and what can become of that. */
function ofOutsideJobs({ instance, which, outcomes, tasks }: Drawn): readonly (readonly Step[])[] {
  const resumable: Wish = { ...PLAIN, priority: 4, attempts: 2, onLost: "resume" };
  const begin: readonly Step[] = [
    { do: "enqueue", tasks: [resumable, ...tasks.slice(0, 1)] },
    { do: "promote" },
    { do: "claim", instance },
  ];
  const lose: readonly Step[] = [
    { do: "expire", instance },
    { do: "rescue" },
    { do: "join", kinds: KINDS, slots: 3 },
  ];
  const letGo = settleWith(instance, ["letGo", "letGoAtOnce", "letGoTooLong"], which % 4 === 0);
  const poll: Step = { do: "poll", instance };
  const look: readonly Step[] = [{ do: "passPolls" }, poll];
  const settle = settleWith(instance, outcomes, which % 3 === 0);
  const crash: Step = { do: "crash", instance };
  const keep: Step = { do: "keepHandle", instance, which, losesAnswer: false };
  const cancels = CANCELS.slice(0, 2);
  return [
    [...begin, letGo, ...look, settle],
    [...begin, letGo, ...look, settleWith(instance, ["deferral", "stuck"]), ...look, settle],
    [...begin, letGo, { do: "trespass", which }, ...look, { do: "trespass", which }],
    [...begin, letGo, ...cancels, poll, settleWith(instance, ["stuck", "success"]), ...look, settle],
    [...begin, letGo, ...look, ...cancels, { do: "reconcile", instance }, settle],
    [...begin, ...cancels, letGo, poll, settle],
    [...begin, letGo, { do: "passDeadline", which }, poll, settleWith(instance, ["deferral"])],
    [...begin, letGo, ...look, { do: "passDeadline", which }, settle, poll, settle],
    [...begin, letGo, { do: "passPolls" }, { do: "losePoll", instance }, { do: "reconcile", instance }, poll],
    [...begin, letGo, { do: "losePoll", instance }, ...lose, poll, settle],
    [...begin, letGo, ...look, ...lose, settle, poll, settle],
    // Until nobody believes any more that it is the instances' fault.
    [...begin, letGo, ...Array.from({ length: 4 }, () => [...look, crash, ...lose]).flat()],
    [...begin, keep, ...lose, poll, settle],
    [...begin, keep, settleWith(instance, ["shutdown"]), poll, settle],
    [...begin, { ...keep, losesAnswer: true }, settle],
  ];
}

/** What people do to many tasks at once, and what becomes of those that have ended. */
function ofMany(drawn: Drawn): readonly (readonly Step[])[] {
  const { instance, which, outcomes, filter, statuses, tasks } = drawn;
  const begin: readonly Step[] = [
    { do: "enqueueRun", tasks, limit: 0 },
    { do: "promote" },
    { do: "claim", instance },
  ];
  const settle = settleWith(instance, outcomes);
  const fail = settleWith(instance, ["failureForGood"]);
  const ofRun: Bulk = { ids: null, run: 0, kind: null };
  const retryMany: Step = { do: "retryMany", filter, status: ["FAILED", "CANCELED"] };
  const cancelMany: Step = { do: "cancelMany", filter, status: [] };
  const prune: Step = { do: "prune", which, statuses };
  return [
    [...begin, cancelMany, { do: "reconcile", instance }, settle],
    [...begin, fail, retryMany, { do: "promote" }],
    [...begin, fail, { ...cancelMany, filter: ofRun }, { ...retryMany, filter: ofRun }],
    [...begin, settle, ...begin, settle, { do: "prune", which: 0, statuses: ["DONE", "FAILED", "CANCELED"] }],
    [...begin, { do: "cancelRun", which: 0 }, settle, prune, { ...retryMany, filter: ofRun }],
    // What it holds is settled after it is gone.
    [...begin, { do: "cancelRun", which: 0 }, { do: "expire", instance }, { do: "rescue" }, prune, settle],
  ];
}

/** Windows that end while somebody waits for that, or while somebody has been let in. */
function ofWindows({ instance, what, tasks }: Drawn): readonly (readonly Step[])[] {
  const over: Scope = "run" in what ? { queue: "default" } : what;
  const within: Wish =
    "resource" in over
      ? { ...PLAIN, resources: [{ name: over.resource, mode: "shared" }] }
      : { ...PLAIN, ...over };
  const begin: readonly Step[] = [{ do: "enqueue", tasks: [within, ...tasks] }, { do: "promote" }];
  const pass: Step = { do: "passWindow", what: over };
  return [
    [{ do: "setWindows", what: over, windows: "closed" }, ...begin, pass, { do: "promote" }],
    [{ do: "setWindows", what: over, windows: "open" }, ...begin, pass, { do: "promote" }],
    [{ do: "setWindows", what: over, windows: "open" }, ...begin, pass, { do: "claim", instance }],
  ];
}

/** What happens to work and to rules. */
function ofWork(drawn: Drawn): readonly (readonly Step[])[] {
  const { instance, which, outcomes, what, tasks } = drawn;
  const promote: Step = { do: "promote" };
  const take: readonly Step[] = [promote, { do: "claim", instance }];
  const lose: readonly Step[] = [
    { do: "expire", instance },
    { do: "rescue" },
    { do: "join", kinds: KINDS, slots: 3 },
  ];
  const settle = settleWith(instance, outcomes, which % 4 === 0);
  const reconcile: Step = { do: "reconcile", instance };
  return [
    take,
    take,
    take,
    [{ do: "enqueue", tasks }, ...take],
    [...take, settle],
    [...take, { do: "settle", instance, outcomes: ["deferral"], losesAnswer: false }, promote],
    [...take, { do: "trespass", which }],
    [...take, ...lose, settle],
    [...take, ...lose, promote, ...RELEASES, promote],
    [...take, ...lose, ...RELEASES, promote],
    [...take, { do: "crash", instance }, ...lose, promote],
    [...take, { do: "cancel", which: 0, byTask: true }, reconcile, settle],
    [...take, { do: "cancelRun", which }, ...lose],
    [
      { do: "enqueueRun", tasks, limit: 1 },
      { do: "cancelRun", which: 0 },
      { do: "retry", which: 0, byTask: true },
    ],
    [promote, { do: "loseClaim", instance }, reconcile],
    [promote, { do: "loseClaim", instance }, ...CANCELS, reconcile],
    [...take, ...lose, reconcile],
    [...take, { do: "undoEnds", instance }, reconcile, promote],
    // What it gave back before it was lost runs elsewhere.
    [
      ...take,
      { do: "settleOne", instance, which, outcome: "deferral" },
      promote,
      { do: "claim", instance: instance + 1 },
      ...lose,
    ],
    [{ do: "pause", what }, promote, { do: "resume", what }, promote],
    [{ do: "setWindows", what, windows: "closed" }, promote, { do: "setWindows", what, windows: "none" }],
    ...ofWindows(drawn),
    [promote, { do: "timeOut", which }, promote],
    [{ do: "expire", instance }, ...[0, 1, 2].map((each): Step => ({ do: "renew", instance: each }))],
    [
      ...take,
      { do: "setRunLimit", which, limit: 1 },
      promote,
      { do: "setRunLimit", which, limit: 0 },
      promote,
    ],
    ...QUEUES.map((queue): readonly Step[] => [
      { do: "setQueue", queue, limit: 1 },
      promote,
      { do: "setQueue", queue, limit: which % 3 },
      promote,
    ]),
    [promote, { do: "setKeyLimit", key: "k:*", limit: 3 }, promote],
    [promote, { do: "setRate", amount: 3 }, promote],
    OVERTAKING,
    // Until nobody believes any more that it is the instances' fault.
    Array.from({ length: 4 }, () => [...take, ...lose]).flat(),
  ];
}

const anything: fc.Arbitrary<Drawn> = fc.record({
  instance: nat,
  which: nat,
  outcomes: some(outcome, 3),
  what: scope,
  filter: bulk,
  statuses: someEnds,
  tasks: some(wish, 4),
});

export const phrase: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 6, arbitrary: anything.chain((each) => fc.constantFrom(...ofWork(each))) },
  { weight: 1, arbitrary: anything.chain((each) => fc.constantFrom(...ofMany(each))) },
  { weight: 2, arbitrary: anything.chain((each) => fc.constantFrom(...ofOutsideJobs(each))) },
);
