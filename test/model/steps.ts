/** What can happen in a sequence, as plain JSON: it is drawn at random, made smaller, printed and read back. */

/** A task that is asked for. */
export interface Wish {
  readonly kind: Kind;
  readonly queue: string;
  readonly priority: number;
  readonly resources: readonly { readonly name: string; readonly mode: "exclusive" | "shared" }[];
  readonly version: string | null;
  /** It may start below a version that is DONE. */
  readonly outOfOrder: boolean;
  readonly concurrencyKey: string | null;
  readonly rated: boolean;
  readonly stopped: boolean;
  /** Its run time lies far ahead. */
  readonly later: boolean;
  readonly attempts: number;
  /** Whether the attempt after a failure waits. */
  readonly backsOff: boolean;
  readonly onLost: "retry" | "fail" | "resume";
  readonly timesOut: boolean;
}

export type Ended = "DONE" | "FAILED" | "CANCELED";
export type Kind = "work" | "rare";
export type OutcomeName = (typeof OUTCOMES)[number];
/** A number names one of those that are there. */
export type Scope = { readonly queue: string } | { readonly resource: string } | { readonly run: number };

/** What a cancel or a retry of many is about; null: whatever there is. */
export interface Bulk {
  readonly ids: readonly { readonly which: number; readonly byTask: boolean }[] | null;
  readonly run: number | null;
  readonly kind: Kind | null;
}

export type Step =
  | { readonly do: "enqueue"; readonly tasks: readonly Wish[] }
  | { readonly do: "enqueueRun"; readonly tasks: readonly Wish[]; readonly limit: number }
  | { readonly do: "enqueueLargeRun"; readonly size: number }
  | { readonly do: "pass" | "promote" | "sweep" | "rescue" | "passTime" | "passPeriod" | "passPolls" }
  | { readonly do: "claim" | "loseClaim" | "poll" | "losePoll" | "undoEnds"; readonly instance: number }
  | { readonly do: "reconcile" | "renew"; readonly instance: number }
  | { readonly do: "crash" | "expire" | "drain" | "leave"; readonly instance: number }
  | { readonly do: "join"; readonly kinds: readonly Kind[]; readonly slots: number }
  | {
      readonly do: "settle";
      readonly instance: number;
      /** One after the other, over what it holds. */
      readonly outcomes: readonly OutcomeName[];
      readonly losesAnswer: boolean;
    }
  | {
      readonly do: "settleOne";
      readonly instance: number;
      readonly which: number;
      readonly outcome: OutcomeName;
    }
  | {
      readonly do: "keepHandle";
      readonly instance: number;
      readonly which: number;
      readonly losesAnswer: boolean;
    }
  | { readonly do: "passDeadline"; readonly which: number }
  | { readonly do: "cancel" | "retry"; readonly which: number; readonly byTask: boolean }
  | { readonly do: "cancelRun"; readonly which: number }
  | {
      readonly do: "cancelMany";
      readonly filter: Bulk;
      /** None: all. */
      readonly status: readonly ("PENDING" | "AVAILABLE" | "RUNNING")[];
    }
  | {
      readonly do: "retryMany";
      readonly filter: Bulk;
      /** None: only what FAILED. */
      readonly status: readonly ("FAILED" | "CANCELED")[];
    }
  /** What has ended like this, up to one of them. */
  | { readonly do: "prune"; readonly which: number; readonly statuses: readonly Ended[] }
  | { readonly do: "timeOut" | "putStop" | "takeOffStop" | "explain" | "trespass"; readonly which: number }
  | { readonly do: "pause" | "resume"; readonly what: Scope }
  | { readonly do: "setWindows"; readonly what: Scope; readonly windows: "none" | "open" | "closed" }
  | { readonly do: "passWindow"; readonly what: Scope }
  | { readonly do: "setRunLimit"; readonly which: number; readonly limit: number }
  | { readonly do: "setQueue"; readonly queue: string; readonly limit: number }
  | { readonly do: "setKeyLimit"; readonly key: string; readonly limit: number }
  | { readonly do: "setRate"; readonly amount: number }
  | { readonly do: "releaseReservation"; readonly resource: string };

export type StepOf<Name extends Step["do"]> = WithName<Step, Name>;
type WithName<Each, Name> = Each extends { readonly do: infer Names }
  ? Name extends Names
    ? Each
    : never
  : never;

export const OUTCOMES = [
  "success",
  "plainSuccess",
  "failure",
  "failureForGood",
  "failureForLater",
  "deferral",
  "deferralForLater",
  "stopped",
  "stuck",
  "stuckInShutdown",
  "shutdown",
  "letGo",
  "letGoAtOnce",
  "letGoTooLong",
] as const;
export const KINDS: readonly Kind[] = ["work", "rare"];
export const QUEUES: readonly string[] = ["default", "mail"];
export const RESOURCES: readonly string[] = ["a", "b", "c"];
export const KEYS: readonly string[] = ["k:1", "k:2"];
export const RATE = "sms";
export const STOP = "APPROVAL";
/** How long a task that can time out may wait: longer than any sequence takes. */
export const QUEUED_MS = 86_400_000;

/** How long an outside job may take: longer than any sequence does. */
export const DEADLINE_MS = 86_400_000;

/** A task that nothing stands in the way of. */
export const PLAIN: Wish = {
  kind: "work",
  queue: "default",
  priority: 5,
  resources: [],
  version: null,
  outOfOrder: false,
  concurrencyKey: null,
  rated: false,
  stopped: false,
  later: false,
  attempts: 1,
  backsOff: false,
  onLost: "retry",
  timesOut: false,
};
