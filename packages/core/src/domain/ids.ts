/** Branded ids: which string is which is a compile error, not an incident. Casts happen here only. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** What is to be done: stays the same through all its attempts. */
export type TaskId = Branded<"TaskId">;
/** One attempt of a task. */
export type TaskRunId = Branded<"TaskRunId">;
/** Tasks that were enqueued together and share a limit. */
export type RunId = Branded<"RunId">;
/** The random boot id of one scheduler process; host and port never identify an instance. */
export type InstanceId = Branded<"InstanceId">;
/** A cancel or a retry of many. */
export type OperationId = Branded<"OperationId">;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** As the database answers it. Scopes and wakes are compared as texts: in capitals it would be the id of nobody. */
export function asStored<Id extends string>(id: Id): Id {
  return id.toLowerCase() as Id;
}

/** Ids are made in the order of time: whatever was enqueued since then has this id or a greater one. */
export function firstIdAt(at: Date): string {
  const digits = Math.max(0, at.getTime()).toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-0000-0000-000000000000`;
}

export function asTaskId(text: string): TaskId {
  return text as TaskId;
}

export function asTaskRunId(text: string): TaskRunId {
  return text as TaskRunId;
}

export function asRunId(text: string): RunId {
  return text as RunId;
}

export function asInstanceId(text: string): InstanceId {
  return text as InstanceId;
}

export function asOperationId(text: string): OperationId {
  return text as OperationId;
}
