/** Reads from its log why a server ended before it was ready. Pure. */

export type ExitCause =
  /** Another server has the data: adopt that one. */
  | "other_server"
  /** Processes of a killed server still have its memory: they end by themselves. */
  | "still_ending"
  | "port_taken"
  | "unknown";

const SIGNS: readonly (readonly [string, ExitCause])[] = [
  ['lock file "postmaster.pid" already exists', "other_server"],
  // Between the making of the file and its first line.
  ['lock file "postmaster.pid" is empty', "other_server"],
  ['could not remove old lock file "postmaster.pid"', "other_server"],
  ["pre-existing shared memory block", "still_ending"],
  ["could not create any TCP/IP sockets", "port_taken"],
  ["Address already in use", "port_taken"],
];

/** Racing servers share one log, so only lines of this process count. */
export function whyExited(lines: readonly string[], pid: number): ExitCause {
  const own = lines.filter((line) => line.includes(`[${pid}]`));
  const sign = SIGNS.find(([text]) => own.some((line) => line.includes(text)));
  return sign?.[1] ?? "unknown";
}
