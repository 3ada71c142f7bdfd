/**
 * A TCP proxy before PostgreSQL that breaks things at an exact point of the protocol: it reads the
 * messages of the client, so that it knows which of them is a COMMIT.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { deferred } from "./deferred.ts";
import { answerCounter, questionCounter } from "./wire-messages.ts";

export interface FaultProxy {
  /** The URL of the database, through the proxy. */
  readonly url: string;
  /**
   * The n-th COMMIT from now reaches the server and is carried out; its answer does not come back, the
   * connection breaks instead. Resolves when it has.
   */
  cutAfterCommit(nth?: number): Promise<void>;
  /**
   * Lets the server analyse the next statement whose text contains this, and keeps the message back that would
   * run it. In REPEATABLE READ the snapshot is taken by then.
   */
  holdBeforeRunning(text: string): { readonly reached: Promise<void>; resume(): void };
  /** How many the client has sent so far. */
  packets(): number;
  /** How often the server has said so far that it is ready. */
  answers(): number;
  close(): Promise<void>;
}

type Fault =
  | { readonly kind: "cut"; commitsLeft: number; readonly done: () => void }
  | {
      readonly kind: "hold";
      readonly text: string;
      readonly reached: () => void;
      readonly resumed: Promise<void>;
    };

export async function openFaultProxy(databaseUrl: string): Promise<FaultProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const faults: Fault[] = [];
  let packets = 0;
  let answers = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Messages go on one by one: held together to save packets, each would cost 40 ms.
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", () => {
      packets += 1;
    });
    const count = answerCounter();
    upstream.on("data", (bytes) => {
      answers += count(bytes);
    });
    relay(client, upstream, faults);
  });
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(await listenAnywhere(server));
  return {
    url: url.href,
    cutAfterCommit: async (nth = 1) => {
      const cut = deferred();
      faults.push({ kind: "cut", commitsLeft: nth, done: cut.resolve });
      await cut.promise;
    },
    holdBeforeRunning: (text) => {
      const arrival = deferred();
      const resumption = deferred();
      faults.push({ kind: "hold", text, reached: arrival.resolve, resumed: resumption.promise });
      return { reached: arrival.promise, resume: resumption.resolve };
    },
    packets: () => packets,
    answers: () => answers,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function listenAnywhere(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return address.port;
}

const PARSE = "P";
const BIND = "B";
const EXECUTE = "E";
const SIMPLE_QUERY = "Q";
/** "Send what you have to say so far": the answer proves that everything before it was worked through. */
const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);

function relay(client: Socket, upstream: Socket, faults: Fault[]): void {
  let answered: () => void = () => {};
  let cut: Extract<Fault, { kind: "cut" }> | null = null;
  let analysed: Extract<Fault, { kind: "hold" }> | null = null;

  const [asksIn, answersIn] = [questionCounter(), answerCounter()];
  let unanswered = 0;
  upstream.on("data", (bytes) => {
    unanswered -= answersIn(bytes);
    if (cut !== null) {
      // The statement may have gone with its COMMIT: that is carried out when all is answered.
      if (unanswered > 0) return;
      client.destroy();
      cut.done();
      return;
    }
    client.write(bytes);
    answered();
  });
  const forward = async (message: Buffer, type: string | null): Promise<void> => {
    if (type === PARSE) analysed = takeHold(faults, message);
    if ((type === SIMPLE_QUERY || type === BIND) && message.includes("COMMIT\0")) cut = takeCut(faults);
    if (type === EXECUTE && analysed !== null) {
      const { reached, resumed } = analysed;
      const spoken = new Promise<void>((resolve) => {
        answered = resolve;
      });
      upstream.write(FLUSH);
      await spoken;
      reached();
      await resumed;
      analysed = null;
    }
    unanswered += asksIn(message);
    upstream.write(message);
  };

  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  let before: Promise<void> = Promise.resolve();
  client.on("data", (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      // Only the first message has no letter before its length.
      const letter = started ? 1 : 0;
      if (rest.length < letter + 4) return;
      const length = letter + rest.readInt32BE(letter);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      const type = started ? message.toString("latin1", 0, 1) : null;
      rest = rest.subarray(length);
      started = true;
      before = before.then(async () => await forward(message, type));
    }
  });
}

function takeCut(faults: Fault[]): Extract<Fault, { kind: "cut" }> | null {
  const [first] = faults;
  if (first?.kind !== "cut" || --first.commitsLeft > 0) return null;
  faults.shift();
  return first;
}

function takeHold(faults: Fault[], parse: Buffer): Extract<Fault, { kind: "hold" }> | null {
  const [first] = faults;
  if (first?.kind !== "hold" || !parse.includes(first.text)) return null;
  faults.shift();
  return first;
}
