/** An instance may open no file and no connection any more, and loses those it has. */

import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import type { Instance } from "../ha/instance.ts";
import type { ToldError } from "../ha/instance-messages.ts";
import type { Rig } from "../ha/rig.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { until } from "../ha/until.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;
const STANDARD_STREAMS = 3;
const USUAL_LIMIT = 1_024;

export function noneLeft(told: ToldError): boolean {
  return /EMFILE|ERR_WORKER/.test(`${told.code} ${told.message}`) || brokenLine(told);
}

/** Where it is not, it is said in one line, and the trial is to be left out. */
export function hasPrlimit(): boolean {
  try {
    execFileSync("prlimit", ["--version"], { stdio: "pipe" });
    return true;
  } catch {
    process.stdout.write("Skipped: exhausting file descriptors needs prlimit, which is not installed\n");
    return false;
  }
}

export async function exhaustDescriptors(
  { cluster }: Rig,
  { passes }: { readonly passes: number },
): Promise<Shown> {
  const [poor] = cluster.running;
  if (poor === undefined) throw new Error("Nobody is there");
  const failedBefore = poor.count("loop.failed");
  // The limit is on numbers, and these three are never free: whatever it closes, it can open nothing in its place.
  limitFiles(poor, STANDARD_STREAMS);
  cluster.wireOf(poor).cut();
  const told = (): number =>
    poor.told("loop.failed").filter(({ code, message }) => /EMFILE/.test(`${code} ${message}`)).length;
  await until("its passes fail", () => told() >= passes || poor.state === "ended", {
    withinMs: WITHIN_MS,
    instead: () => `${poor.count("loop.failed") - failedBefore} failed passes`,
  });
  if (poor.state !== "ended") limitFiles(poor, USUAL_LIMIT);

  expect(poor.unexpectedEnd).toBeNull();
  return { faults: { "file descriptors exhausted": 1 }, paths: { "passes failed with EMFILE": told() } };
}

function limitFiles({ pid }: Instance, count: number): void {
  execFileSync("prlimit", [`--pid=${pid}`, `--nofile=${count}:`], { stdio: "pipe" });
}
