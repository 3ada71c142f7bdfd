/** Tells what happens on the instances, as lines of the log. Remembers what a single event cannot know. */

import { safeText } from "../render/task-name.ts";
import { isTrouble, saidBy, troubleWith } from "./event-line.ts";
import type { EventLog } from "./event-log.ts";
import type { InstanceEvent } from "./instance-messages.ts";
import { createTakeovers, type Takeovers } from "./takeovers.ts";
import { createTroubleFilter } from "./trouble.ts";

export interface Narrator {
  /** A key killed or froze it. */
  readonly struck: Takeovers["struck"];
  readonly tell: (name: string, event: InstanceEvent) => void;
  /** Something did not work and will be tried again. */
  readonly trouble: (name: string, what: string, message: string) => void;
}

export function createNarrator(log: EventLog["log"]): Narrator {
  const takeovers = createTakeovers();
  const seen = new Set<string>();
  const filter = createTroubleFilter();
  const trouble: Narrator["trouble"] = (who, what, message) => {
    const said = filter(message, performance.now());
    if (said !== null) log({ who, verb: "trouble", text: `${what}: ${safeText(said)}`, tone: "bad" });
  };
  return {
    struck: takeovers.struck,
    trouble,
    tell: (who, event) => {
      if (isTrouble(event)) return trouble(who, troubleWith(event), event.message);
      const said = saidBy(event, takeovers.follow(event, performance.now()));
      if (said === null) return;
      const again = event.type === "instance.joined" && seen.has(who);
      log({ who, ...said, ...(again ? { text: "again, as a new instance" } : {}) });
      if (event.type === "instance.joined") seen.add(who);
    },
  };
}
