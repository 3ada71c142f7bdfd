/**
 * What executions did in the real world, by the lines they wrote: the database's own account cannot show that
 * two processes did the same thing. Pure.
 */

export interface TraceLine {
  /** Microseconds of the machine's monotonic clock. */
  readonly us: number;
  readonly taskRunId: string;
  readonly attempt: number;
  readonly claimNo: number;
  /** Of the instance, also where a process of it wrote the line. */
  readonly pid: number;
  readonly what: "start" | "effect" | "end";
}

/** Throws on a line that is not whole: then the trace proves nothing. */
export function parseTrace(text: string): readonly TraceLine[] {
  if (text !== "" && !text.endsWith("\n")) throw new Error("The last line of the trace is torn");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      try {
        return JSON.parse(line) as TraceLine;
      } catch (cause) {
        throw new Error(`Line ${index + 1} of the trace is torn: ${line}`, { cause });
      }
    });
}

function effectsByClaim(trace: readonly TraceLine[]): ReadonlyMap<string, readonly TraceLine[]> {
  const effects = new Map<string, TraceLine[]>();
  for (const line of trace) {
    if (line.what !== "effect") continue;
    const key = claimKey(line);
    effects.set(key, [...(effects.get(key) ?? []), line]);
  }
  return effects;
}

/** S16: a claim is one process's, and it carries it out once. */
export function findDoubleEffects(trace: readonly TraceLine[]): readonly string[] {
  return [...effectsByClaim(trace)].flatMap(([claim, effects]) => {
    const pids = [...new Set(effects.map(({ pid }) => pid))];
    if (pids.length > 1) return [`S16: ${claim} took effect in processes ${pids.join(" and ")}`];
    return effects.length > 1
      ? [`S16: ${claim} took effect ${effects.length} times in process ${pids[0]}`]
      : [];
  });
}

/** S3 in the real world: a claim number is given out once, whatever became of the server that gave it. */
export function findSharedNumbers(trace: readonly TraceLine[]): readonly string[] {
  const owners = new Map<number, number>();
  const shared = new Map<number, string>();
  for (const { claimNo, pid } of trace) {
    const owner = owners.get(claimNo) ?? pid;
    owners.set(claimNo, owner);
    if (owner !== pid)
      shared.set(claimNo, `S3: claim number ${claimNo} was given to processes ${owner} and ${pid}`);
  }
  return [...shared.values()];
}

export interface DoneTaskRun {
  readonly taskRunId: string;
  readonly claimNo: number;
  /** The process of the instance that the row names as its owner. */
  readonly pid: number;
}

/** S4 at the effect: what counts as done was done, under the claim and by the owner that the row names. */
export function findUnfoundedDone(
  done: readonly DoneTaskRun[],
  trace: readonly TraceLine[],
): readonly string[] {
  const effects = effectsByClaim(trace);
  return done.flatMap((row) => {
    const pids = effects.get(claimKey(row))?.map(({ pid }) => pid) ?? [];
    if (pids.length === 0) return [`${claimKey(row)} is DONE without an effect`];
    return pids.includes(row.pid)
      ? []
      : [`${claimKey(row)} is DONE by process ${row.pid}, its effect is of ${pids.join(", ")}`];
  });
}

export interface AcceptedClaim {
  readonly taskRunId: string;
  readonly claimNo: number;
  /** What it held alone. */
  readonly resources: readonly string[];
}

/**
 * S17: on what is held alone, the claim numbers of effects whose result was accepted never decrease. In the order of the
 * lines, which is that of their writes, whoever's clock says what.
 */
export function findDecreasingFences(
  accepted: readonly AcceptedClaim[],
  trace: readonly TraceLine[],
): readonly string[] {
  const resourcesOf = new Map(accepted.map((claim) => [claimKey(claim), claim.resources]));
  const highest = new Map<string, number>();
  return trace.flatMap((line) => {
    const resources = line.what === "effect" ? (resourcesOf.get(claimKey(line)) ?? []) : [];
    return resources.flatMap((resource) => {
      const before = highest.get(resource) ?? 0;
      highest.set(resource, Math.max(before, line.claimNo));
      return line.claimNo < before
        ? [`S17: on ${resource} ${claimKey(line)} took effect after claim ${before}`]
        : [];
    });
  });
}

function claimKey({ taskRunId, claimNo }: { readonly taskRunId: string; readonly claimNo: number }): string {
  return `task run ${taskRunId} under claim ${claimNo}`;
}
