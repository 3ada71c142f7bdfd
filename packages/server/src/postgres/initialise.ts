import { randomBytes } from "node:crypto";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { type Cluster, clusterAt } from "./cluster.ts";
import { program } from "./find-binaries.ts";
import { launchError } from "./launch-error.ts";
import { clearAside, placeAside } from "./place-aside.ts";
import { asLaunchError, runAs } from "./run-as.ts";
import { assertPasswdEntry, type ServerUser } from "./server-user.ts";

export interface Initialisation {
  readonly cluster: Cluster;
  readonly binDir: string;
  readonly user: ServerUser;
  readonly durable: boolean;
}

const DEADLINE_MS = 120_000;
const SHOWN_LINES = 12;

/** Creates an empty cluster with a password nobody chose. Where another process was faster, its cluster stays. */
export async function initialise({ cluster, binDir, user, durable }: Initialisation): Promise<void> {
  assertPasswdEntry(user);
  await clearAside(cluster.folder);
  await placeAside(cluster.folder, async (folder) => {
    const aside = clusterAt(folder);
    await mkdir(aside.dataDir, { mode: 0o700 });
    await writeFile(aside.passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600 });
    await lend([aside.dataDir, aside.passwordFile], user);
    const { exitCode, output } = await runAs(
      user,
      program(binDir, "initdb"),
      initdbArgs(aside, durable),
      DEADLINE_MS,
    );
    if (exitCode !== 0) {
      throw launchError("INIT_FAILED", { dataDir: cluster.dataDir, lines: lastLines(output) });
    }
    // The server knows its own password: the data is all it needs.
    await takeBack(aside.passwordFile, user);
  });
}

/** The locale is C everywhere: it needs no package of the system, and texts sort alike on every machine. */
function initdbArgs(cluster: Cluster, durable: boolean): readonly string[] {
  return [
    `--pgdata=${cluster.dataDir}`,
    "--username=postgres",
    `--pwfile=${cluster.passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    ...(durable ? [] : ["--no-sync"]),
  ];
}

async function lend(paths: readonly string[], user: ServerUser): Promise<void> {
  if (!user.lent) return;
  try {
    for (const path of paths) await chown(path, user.uid, user.gid);
  } catch (cause) {
    throw asLaunchError(cause, user);
  }
}

async function takeBack(path: string, user: ServerUser): Promise<void> {
  if (user.lent) await chown(path, 0, 0);
}

function lastLines(output: string): readonly string[] {
  return output.trim().split("\n").slice(-SHOWN_LINES);
}
