/** A database, or any name: what tasks can hold. */
export type ResourceName = string;
/** Exclusive: alone. Shared: together with others that share it. */
export type ResourceMode = "exclusive" | "shared";

/** A name and how it is held. Tasks of every kind share one space of names. */
export interface Resource {
  readonly name: ResourceName;
  readonly mode: ResourceMode;
}

/** Alone: while a task run holds it, nobody else does. */
export function exclusive(name: ResourceName): Resource {
  return { name, mode: "exclusive" };
}

/** Together with others that share it; not beside one that has it alone, or waits for that ahead in line. */
export function shared(name: ResourceName): Resource {
  return { name, mode: "shared" };
}
