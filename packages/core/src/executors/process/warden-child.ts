/** One process, as its instance knows it: from the request until everything it printed has been read. */

import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ProcessEnd, ProcessSpec, RunningProcess } from "./running-process.ts";

export interface Child {
  readonly spec: ProcessSpec;
  /** Neither it nor what it started prints any more. */
  readonly onSilent: () => void;
  readonly outputs: Set<Socket>;
  pid: number | null;
  /** How many of its two outputs have been read to their end. */
  closedOutputs: number;
  readonly started: PromiseWithResolvers<RunningProcess>;
  readonly ended: PromiseWithResolvers<ProcessEnd>;
  end: ProcessEnd | null;
}

interface PromiseWithResolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** What escaped from the group may keep an output open for ever. What was printed before the end is read much sooner. */
const READ_REST_MS = 1_000;

export function newChild(spec: ProcessSpec, onSilent: () => void): Child {
  return {
    spec,
    onSilent,
    outputs: new Set(),
    pid: null,
    closedOutputs: 0,
    started: withResolvers(),
    ended: withResolvers(),
    end: null,
  };
}

/** `first` is what of it was read already. */
export function readOutput(socket: Socket, child: Child, stream: "stdout" | "stderr", first: Buffer): void {
  const { onOutput } = child.spec;
  child.outputs.add(socket);
  // Output and answer come by different ways. Whoever waits for the answer has it before the first output, a turn later.
  socket.pause();
  const begun = child.started.promise.then(
    async () => {
      await nextTurn();
      if (first.length > 0) onOutput(stream, first);
      socket.on("data", (bytes) => onOutput(stream, bytes)).resume();
    },
    () => void socket.destroy(),
  );
  socket.once("close", () => {
    child.outputs.delete(socket);
    // A process that ends at once may have closed it before anybody was told what it printed.
    void begun.then(() => closed(child));
  });
}

function closed(child: Child): void {
  child.closedOutputs += 1;
  if (child.closedOutputs < 2) return;
  if (child.end === null) child.onSilent();
  else child.ended.resolve(child.end);
}

/** The group is gone; what it printed may still be on its way. */
export function finish(children: Map<string, Child>, id: string, end: ProcessEnd): void {
  const child = children.get(id);
  if (child === undefined) return;
  child.end = end;
  if (child.closedOutputs < 2) {
    const giveUp = setTimeout(() => {
      for (const output of child.outputs) output.destroy();
      child.ended.resolve(end);
    }, READ_REST_MS);
    void child.ended.promise.then(() => clearTimeout(giveUp));
  } else {
    child.ended.resolve(end);
  }
  void child.ended.promise.then(() => children.delete(id));
}

export function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
