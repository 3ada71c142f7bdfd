/** Whether the server answers, is of this version, has the same time and somebody who works. */

import { type Client, ProblemError, UnreachableError } from "@signalbox/contract";
import type { Finding } from "../../render/finding-lines.ts";
import { lengthText } from "../../render/time.ts";
import { VERSION } from "../../version.ts";
import { findServer } from "../find-server.ts";
import type { ServerOptions } from "../shared-options.ts";
import { unreachableSentence } from "../unreachable.ts";

const SKEW_WORTH_A_WORD_MS = 2_000;
const SLOW_MS = 1_000;

export async function checkApi(options: ServerOptions): Promise<readonly Finding[]> {
  try {
    const client = await findServer(options);
    const health = await checkHealth(client);
    return [health, ...(await checkCluster(client))];
  } catch (error) {
    return [{ what: "server", state: "fail", text: sentenceOf(error), ...fixOf(error) }];
  }
}

async function checkHealth(client: Client): Promise<Finding> {
  const before = performance.now();
  const { version } = await client.health();
  const tookMs = performance.now() - before;
  const text = `${client.baseUrl} answers in ${Math.round(tookMs)} ms, version ${version}`;
  if (version !== VERSION) {
    const fix = `This command is ${VERSION}: install the same version, or expect refusals`;
    return { what: "server", state: "warn", text, fix };
  }
  return tookMs > SLOW_MS
    ? { what: "server", state: "warn", text, fix: "It is slow: look at its load and its database" }
    : { what: "server", state: "ok", text };
}

async function checkCluster(client: Client): Promise<readonly Finding[]> {
  const before = Date.now();
  const { instances, computedAt } = await client.overview();
  const skewMs = Math.abs(Date.parse(computedAt) - (before + Date.now()) / 2);
  const live = instances.filter(({ state }) => state === "LIVE");
  const late = live.filter(({ leaseUntil }) => leaseUntil < computedAt);
  return [
    skewFinding(skewMs),
    liveFinding(
      live.length,
      late.map(({ name }) => name),
    ),
  ];
}

export function skewFinding(skewMs: number): Finding {
  const what = "clock";
  if (skewMs <= SKEW_WORTH_A_WORD_MS) return { what, state: "ok", text: "agrees with the database" };
  const text = `differs from the database by ${lengthText(skewMs)}`;
  return { what, state: "warn", text, fix: "Run NTP on both; times that are shown here are off by that" };
}

function liveFinding(live: number, silent: readonly string[]): Finding {
  const what = "instances";
  if (live === 0)
    return { what, state: "fail", text: "none is live", fix: "Start one: nothing is promoted or run" };
  if (silent.length === 0) return { what, state: "ok", text: `${live} live` };
  const text = `${silent.join(", ")} let the lease run out`;
  return { what, state: "warn", text, fix: "What it had is taken over; look at its log" };
}

function sentenceOf(error: unknown): string {
  if (error instanceof UnreachableError) return unreachableSentence(error);
  return error instanceof Error ? error.message : String(error);
}

function fixOf(error: unknown): { readonly fix?: string } {
  const wantsToken = error instanceof ProblemError && error.problem.status === 401;
  return wantsToken
    ? { fix: "Give its token: --token-file <file>, SIGNALBOX_TOKEN_FILE or SIGNALBOX_TOKEN" }
    : {};
}
