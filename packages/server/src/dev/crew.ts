/** The instances of one `dev`: starts them, picks whom a key hits, and sees them all off. */

import { type InstanceProcess, startInstanceProcess } from "./instance-handle.ts";
import type { InstanceEvent } from "./instance-messages.ts";

export interface CrewDeps {
  readonly databaseUrl: string;
  readonly directUrl: string | null;
  /** Names that others have already. */
  readonly takenNames: ReadonlySet<string>;
  onEvent(name: string, event: InstanceEvent): void;
  /** One ended that nobody ended. */
  onCrash(name: string, why: string): void;
}

export interface Crew {
  /** Starts one more, under the next name nobody has. */
  add(): InstanceProcess;
  /** The one that a key should hit: preferably one that runs something. Null: there is none. */
  pick(): InstanceProcess | null;
  frozen(): InstanceProcess | null;
  /** All finish what they run and leave; those that do not within `patienceMs` are ended. */
  leave(patienceMs: number): Promise<void>;
  killAll(): void;
}

export function createCrew(deps: CrewDeps): Crew {
  const living = new Set<InstanceProcess>();
  const used = new Set(deps.takenNames);
  return {
    add: () => {
      const name = nextName(used);
      used.add(name);
      const { databaseUrl, directUrl } = deps;
      const instance = startInstanceProcess({ name, databaseUrl, directUrl }, (event) =>
        deps.onEvent(name, event),
      );
      living.add(instance);
      void instance.ended.then(({ expected, why }) => {
        living.delete(instance);
        if (!expected) deps.onCrash(name, why);
      });
      return instance;
    },
    pick: () => {
      const awake = [...living].filter(({ frozen }) => !frozen);
      return awake.toSorted((a, b) => b.running.size - a.running.size)[0] ?? null;
    },
    frozen: () => [...living].find(({ frozen }) => frozen) ?? null,
    leave: async (patienceMs) => {
      await Promise.all([...living].map((instance) => instance.leave(patienceMs)));
    },
    killAll: () => {
      for (const instance of living) instance.kill();
    },
  };
}

/** inst-a … inst-z, inst-aa …: the first that is not taken. */
export function nextName(taken: ReadonlySet<string>): string {
  for (let number = 0; ; number++) {
    const name = `inst-${letters(number)}`;
    if (!taken.has(name)) return name;
  }
}

function letters(number: number): string {
  const last = String.fromCharCode("a".charCodeAt(0) + (number % 26));
  return number < 26 ? last : letters(Math.floor(number / 26) - 1) + last;
}
