/** The instances of one trial, those that were killed included. */

import { type EventOf, type Instance, startInstance } from "./instance.ts";
import type { InstanceEvent } from "./instance-messages.ts";

export interface Cluster {
  /** All that were ever started. */
  readonly all: readonly Instance[];
  /** Neither killed nor frozen. */
  readonly running: readonly Instance[];
  /** Starts one more; resolves once it has joined. */
  add(): Promise<Instance>;
  ofBootId(bootId: string): Instance;
  count(type: InstanceEvent["type"]): number;
  told<Type extends InstanceEvent["type"]>(type: Type): readonly EventOf<Type>[];
  /** Ends every process, frozen ones too. */
  end(): Promise<void>;
}

export function createCluster(place: { readonly databaseUrl: string; readonly traceFile: string }): Cluster {
  const all: Instance[] = [];
  let started = 0;
  return {
    all,
    get running() {
      return all.filter(({ state }) => state === "running");
    },
    add: async () => {
      started += 1;
      const instance = startInstance({ ...place, name: `instance-${started}` });
      all.push(instance);
      await instance.joined();
      return instance;
    },
    ofBootId: (bootId) => {
      const found = all.find(({ bootIds }) => bootIds.includes(bootId));
      if (found === undefined) throw new Error(`No instance has told of the boot id ${bootId}`);
      return found;
    },
    count: (type) => all.reduce((sum, instance) => sum + instance.count(type), 0),
    told: (type) => all.flatMap((instance) => instance.told(type)),
    end: async () => {
      await Promise.all(all.map(async (instance) => await instance.kill()));
    },
  };
}
