/** What an instance and its warden tell each other: one JSON text a line. */

import type { ProcessEnd } from "./running-process.ts";

/** What is known of a lease: the last good renewal. */
export interface LeaseBeat {
  readonly life: string;
  readonly leaseMs: number;
  readonly renewedAtMs: number;
}

export interface StartMessage {
  readonly kind: "start";
  readonly id: string;
  readonly lease: LeaseBeat;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdinFile: string | null;
  readonly graceMs: number;
  /** Null: it may run for as long as the lease holds. */
  readonly deadline: { readonly atMs: number; readonly graceMs: number } | null;
}

export type ToWarden =
  | StartMessage
  | { readonly kind: "stop"; readonly id: string; readonly graceMs: number }
  /** Whether it is there. */
  | { readonly kind: "ask" };

/** Why the warden itself ends a group. */
export type WardenCause = Extract<ProcessEnd["because"], "lease" | "run_timeout">;

export type FromWarden =
  /** It has begun, or was asked. */
  | { readonly kind: "ready" }
  | {
      readonly kind: "started";
      readonly id: string;
      readonly pid: number;
      readonly startTime: string | null;
    }
  | { readonly kind: "not_started"; readonly id: string; readonly message: string }
  /** Nothing of the group is left. */
  | {
      readonly kind: "ended";
      readonly id: string;
      readonly exitCode: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly because: WardenCause | null;
      readonly told: boolean;
    };

/** The sockets in the warden's folder: where children's output goes to the instance, where renewals come in. */
export const OUTPUT_SOCKET = "output";
export const BEAT_SOCKET = "beat";
/** The one file descriptor that connects the two. Its end is the end of the instance. */
export const LIFELINE_FD = 3;

export function line(message: ToWarden | FromWarden | LeaseBeat): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * What is said in one turn of the loop goes out together: each write is a call of the system and wakes the other side, which
 * costs more than the words.
 */
export function sayTogether<Message extends ToWarden | FromWarden>(
  write: (text: string) => void,
): (message: Message) => void {
  let unsaid = "";
  return (message) => {
    if (unsaid === "") {
      setImmediate(() => {
        const text = unsaid;
        unsaid = "";
        write(text);
      });
    }
    unsaid += line(message);
  };
}

/** Cuts what comes in pieces into messages. The last, unfinished line is never one. */
export function readLines<Message>(onMessage: (message: Message) => void): (piece: string) => void {
  let rest = "";
  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) onMessage(JSON.parse(text) as Message);
  };
}
