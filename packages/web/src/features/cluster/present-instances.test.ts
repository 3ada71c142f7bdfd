import type { InstanceView } from "@signalbox/contract";
import { expect, test } from "vitest";
import { presentInstances } from "./present-instances.ts";

test("those that live come by name, then those that were lost; those that left are not among them", () => {
  const instances = [
    instance("lost", "DEAD", null),
    instance("b", "DRAINING", null),
    instance("gone", "DEAD", "2026-11-17T12:00:00Z"),
    instance("a", "LIVE", null),
  ];

  expect(presentInstances(instances).map(({ name }) => name)).toEqual(["a", "b", "lost"]);
});

function instance(name: string, state: InstanceView["state"], leftAt: string | null): InstanceView {
  return { name, state, leftAt } as InstanceView;
}
