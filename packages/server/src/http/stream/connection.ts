/** One client of the stream: what it is told, and when it can take more. */

import type { Writable } from "node:stream";
import type { Problem, StreamHello, StreamTrouble } from "@signalbox/contract";
import { changeOf, type Known } from "./change.ts";
import type { Look } from "./reader.ts";
import type { Topic } from "./topic.ts";

/** A proxy may end a connection on which nothing is said. */
const HEARTBEAT_MS = 15_000;
/** A client that reads slower than we write is told the newest when it has caught up, and nothing in between. */
const MOST_UNSENT_BYTES = 256 * 1024;

export interface StreamConnection {
  readonly tell: (topic: Topic, look: Look) => void;
  /** Once for each text of it. */
  readonly tellTrouble: (topic: string, problem: Problem) => void;
  /** Ends it, and says that the client may open another. */
  readonly renew: () => void;
  readonly end: () => void;
}

export function openConnection(out: Writable, hello: StreamHello): StreamConnection {
  const known = new Map<string, Known>();
  const troubled = new Map<string, string>();
  /** The newest look at each topic that could not be told yet. */
  const held = new Map<string, { readonly topic: Topic; readonly look: Look }>();
  const heartbeat = setInterval(() => write(": still here\n\n"), HEARTBEAT_MS);

  const write = (text: string): void => {
    if (!out.writableEnded && !out.destroyed) out.write(text);
  };

  const tellTrouble = (topic: string, problem: Problem): void => {
    const event: StreamTrouble = { topic, problem };
    const text = JSON.stringify(event);
    if (troubled.get(topic) === text) return;
    troubled.set(topic, text);
    write(`event: trouble\ndata: ${text}\n\n`);
  };

  const tellNow = (topic: Topic, look: Look): void => {
    if (look.kind === "trouble") return tellTrouble(topic.name, look.problem);
    // After a trouble also what has not changed is said again: it is good news.
    const wasTroubled = troubled.delete(topic.name);
    const change = changeOf(topic, look.reading, wasTroubled ? null : (known.get(topic.name) ?? null));
    known.set(topic.name, change.known);
    if (change.event !== null) {
      write(`event: change\nid: ${change.event.at}\ndata: ${JSON.stringify(change.event)}\n\n`);
    }
  };

  const catchUp = (): void => {
    const waiting = [...held.values()];
    held.clear();
    for (const { topic, look } of waiting) tell(topic, look);
  };

  const tell = (topic: Topic, look: Look): void => {
    if (out.writableLength > MOST_UNSENT_BYTES) held.set(topic.name, { topic, look });
    else tellNow(topic, look);
  };

  out.on("drain", catchUp);
  // A client that is gone is told of by the end of its connection.
  out.on("error", () => {});
  write(`retry: 1000\nevent: hello\ndata: ${JSON.stringify(hello)}\n\n`);
  const end = (): void => {
    clearInterval(heartbeat);
    out.off("drain", catchUp);
    out.end();
  };
  return {
    tell,
    tellTrouble,
    renew: () => {
      write("event: renew\ndata: {}\n\n");
      end();
    },
    end,
  };
}
