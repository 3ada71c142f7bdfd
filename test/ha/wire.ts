/**
 * The network between one instance and the database: a TCP proxy that can be silent, slow or cut, in each direction,
 * and can lose the answer to a COMMIT. What is kept back is not lost: it arrives late, as after a partition.
 */

import { connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { answerCounter, questionCounter } from "../../packages/core/test/wire-messages.ts";

export interface Wire {
  /** The URL of the database, through this wire. */
  readonly url: string;
  /** Where new connections lead from now on. Those that are open stay. */
  leadTo(databaseUrl: string): void;
  /** Keeps connections open and moves nothing in these directions, until `heal`. */
  hush(...directions: readonly Direction[]): void;
  slowDown(ms: number): void;
  /** Everything flows again; what was kept back arrives now. */
  heal(): void;
  /** Resets every connection. */
  cut(): void;
  /**
   * The next COMMIT of a transaction with this statement in it is carried out, its answer is lost
   * and the connection breaks. Resolves to whether that happened; `false` when it was called off.
   */
  loseAnswer(statement: SentStatement): { readonly lost: Promise<boolean>; readonly callOff: () => void };
  close(): Promise<void>;
}

export type Direction = "to the database" | "to the instance";

/** By the name under which a server keeps it prepared, or by a piece of its text. */
export interface SentStatement {
  readonly name: string;
  readonly text: string;
}

interface Ambush extends SentStatement {
  readonly end: (lost: boolean) => void;
}

interface State {
  target: URL;
  delayMs: number;
  ambush: Ambush | null;
  readonly hushed: Set<Direction>;
  /** Resolves when something is allowed to flow that was not before. */
  changed: Promise<void>;
  change: () => void;
}

export async function openWire(databaseUrl: string): Promise<Wire> {
  const sockets = new Set<Socket>();
  const state: State = {
    target: new URL(databaseUrl),
    delayMs: 0,
    ambush: null,
    hushed: new Set(),
    changed: Promise.resolve(),
    change: () => {},
  };
  renewChange(state);
  const server = createServer((client) => {
    const upstream = connect(Number(state.target.port), state.target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Messages go on one by one: held together to save packets, each would cost 40 ms.
      socket.setNoDelay(true).on("error", () => {});
    }
    join(client, upstream, state, (socket) => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The wire has no port");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(address.port);
  return {
    url: url.href,
    leadTo: (next) => {
      state.target = new URL(next);
    },
    hush: (...directions) => {
      for (const direction of directions) state.hushed.add(direction);
    },
    slowDown: (ms) => {
      state.delayMs = ms;
    },
    heal: () => {
      state.hushed.clear();
      state.delayMs = 0;
      const { change } = state;
      renewChange(state);
      change();
    },
    cut: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    loseAnswer: (statement) => ambushFor(statement, state),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function renewChange(state: State): void {
  state.changed = new Promise((resolve) => {
    state.change = resolve;
  });
}

function ambushFor(statement: SentStatement, state: State): ReturnType<Wire["loseAnswer"]> {
  let end: (lost: boolean) => void = () => {};
  const lost = new Promise<boolean>((resolve) => {
    end = (happened) => {
      state.ambush = null;
      resolve(happened);
    };
  });
  state.ambush = { ...statement, end };
  return { lost, callOff: () => end(false) };
}

function join(client: Socket, upstream: Socket, state: State, forget: (socket: Socket) => void): void {
  const listening = { inAmbush: false, losing: false };
  const [asksIn, answersIn] = [questionCounter(), answerCounter()];
  let unanswered = 0;
  flow({ from: client, to: upstream, direction: "to the database" }, state, (bytes) => {
    unanswered += asksIn(bytes);
    const { ambush } = state;
    if (ambush === null) return true;
    if (bytes.includes(ambush.text) || bytes.includes(`\0${ambush.name}\0`)) listening.inAmbush = true;
    // A simple query, with the statement before it or after its answer, or by its name in one message with it; and nothing after it before its own.
    if (listening.inAmbush && bytes.includes("COMMIT\0")) listening.losing = true;
    return true;
  });
  flow({ from: upstream, to: client, direction: "to the instance" }, state, (bytes) => {
    unanswered -= answersIn(bytes);
    if (!listening.losing) return true;
    // Carried out when all is answered; until then nothing of it gets through either.
    if (unanswered > 0) return false;
    client.resetAndDestroy();
    upstream.destroy();
    state.ambush?.end(true);
    return false;
  });
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    socket.on("close", () => {
      forget(socket);
      // Through a silent wire nobody hears that the other side has gone.
      void allowed(state, null).then(() => other.destroy());
    });
  }
}

/** Passes bytes on in their order, when they are allowed to. */
function flow(
  { from, to, direction }: { readonly from: Socket; readonly to: Socket; readonly direction: Direction },
  state: State,
  look: (bytes: Buffer) => boolean,
): void {
  let before: Promise<void> = Promise.resolve();
  from.on("data", (bytes) => {
    const dueAtMs = performance.now() + state.delayMs;
    if (!look(bytes)) return;
    before = before.then(async () => {
      await allowed(state, direction);
      const restMs = dueAtMs - performance.now();
      if (restMs > 0) await wait(restMs);
      if (!to.destroyed) to.write(bytes);
    });
  });
}

/** `null`: both directions. */
async function allowed(state: State, direction: Direction | null): Promise<void> {
  while (direction === null ? state.hushed.size > 0 : state.hushed.has(direction)) await state.changed;
}
