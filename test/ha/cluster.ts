/** The instances of one trial, those that were killed included. */

import { type EventOf, type Instance, type InstanceOptions, startInstance } from "./instance.ts";
import type { InstanceEvent } from "./instance-messages.ts";
import { openWire, type Wire } from "./wire.ts";

export interface Cluster {
  /** All that were ever started. */
  readonly all: readonly Instance[];
  /** Neither killed nor frozen. */
  readonly running: readonly Instance[];
  /** Starts one more; resolves once it has joined. */
  add(options?: InstanceOptions): Promise<Instance>;
  /** Starts one more that may not come far. */
  begin(options?: InstanceOptions): Promise<Instance>;
  /** The network of this instance. */
  wireOf(instance: Instance): Wire;
  ofBootId(bootId: string): Instance;
  count(type: InstanceEvent["type"]): number;
  told<Type extends InstanceEvent["type"]>(type: Type): readonly EventOf<Type>[];
  /** Ends every process, frozen ones too. */
  end(): Promise<void>;
}

export function createCluster(place: {
  readonly databaseUrl: string;
  readonly traceFile: string;
  readonly options?: InstanceOptions;
}): Cluster {
  const all: Instance[] = [];
  const wires = new Map<Instance, Wire>();
  let started = 0;
  const begin = async (options?: InstanceOptions): Promise<Instance> => {
    started += 1;
    // Before anything is awaited: others may begin meanwhile.
    const name = `instance-${started}`;
    const wire = await openWire(place.databaseUrl);
    const { traceFile } = place;
    const instance = startInstance({
      traceFile,
      databaseUrl: wire.url,
      name,
      options: {
        ...place.options,
        ...options,
        settings: { ...place.options?.settings, ...options?.settings },
      },
    });
    wires.set(instance, wire);
    all.push(instance);
    return instance;
  };
  return {
    all,
    get running() {
      return all.filter(({ state }) => state === "running");
    },
    begin,
    add: async (options) => {
      const instance = await begin(options);
      await instance.joined();
      return instance;
    },
    wireOf: (instance) => {
      const wire = wires.get(instance);
      if (wire === undefined) throw new Error(`${instance.name} has no wire`);
      return wire;
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
      await Promise.all([...wires.values()].map(async (wire) => await wire.close()));
    },
  };
}
