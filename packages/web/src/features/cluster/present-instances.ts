import type { InstanceView } from "@signalbox/contract";

/** By name; those that were lost come last, and those that left by themselves are nobody's business any more. */
export function presentInstances(instances: readonly InstanceView[]): readonly InstanceView[] {
  return instances
    .filter(({ leftAt }) => leftAt === null)
    .toSorted((one, other) => {
      const dead = Number(one.state === "DEAD") - Number(other.state === "DEAD");
      return dead === 0 ? one.name.localeCompare(other.name) : dead;
    });
}
