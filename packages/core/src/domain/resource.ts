/** A database, or any name: what tasks can hold. */
export type ResourceName = string;
/** Exclusive: alone. Shared: together with others that share it. */
export type ResourceMode = "exclusive" | "shared";

export interface Resource {
  readonly name: ResourceName;
  readonly mode: ResourceMode;
}

export function exclusive(name: ResourceName): Resource {
  return { name, mode: "exclusive" };
}

export function shared(name: ResourceName): Resource {
  return { name, mode: "shared" };
}
