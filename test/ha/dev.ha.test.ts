/** `signalbox dev` as a newcomer meets it: real processes, its own PostgreSQL, and nothing left afterwards. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it as test } from "vitest";
import { removePostgres } from "../../packages/server/src/postgres/remove.ts";
import { until } from "./until.ts";

const BIN = fileURLToPath(new URL("../../packages/server/bin/signalbox.js", import.meta.url));
const WITHIN_MS = 60_000;
// What is left running is read from /proc.
const it = test.skipIf(process.platform !== "linux");

let project: string;
const devs: Dev[] = [];

beforeAll(async () => {
  // Named as `test/setup/postgres.ts` names its own: what a killed run leaves behind, the next run removes.
  project = await mkdtemp(join(tmpdir(), `signalbox-test-${hostname()}-${process.pid}-dev-`));
  await chmod(project, 0o755);
});

afterEach(async () => {
  await Promise.all(devs.splice(0).map(async (dev) => await dev.quit()));
});

afterAll(async () => {
  await removePostgres(join(project, ".signalbox"));
  await rm(project, { recursive: true, force: true });
});

it("runs the demo to its end, through all four gates, and leaves nothing running", async () => {
  const { code, stdout } = await signalbox("dev", "--once");

  expect(stdout).toMatch(/\n15 of 15 tasks done in \d+ s, no promise broken\.\n$/);
  for (const gate of ["RUN_AT", "VERSION_ORDER", "RUN_LIMIT", "RESOURCE_BUSY"])
    expect(stdout).toContain(gate);
  expect(stdout).not.toContain("\u001b");
  expect(code).toBe(0);
  expect(whatIsLeft()).toEqual([]);
}, 120_000);

it("says who takes over when an instance is killed, and answers from a second terminal", async () => {
  const dev = await startDev();
  await dev.sees(/inst-[abc] {2,}claimed/);

  const status = await signalbox("status");
  expect(status).toMatchObject({ code: 0, stderr: "" });
  for (const name of ["inst-a", "inst-b", "inst-c"])
    expect(status.stdout).toMatch(new RegExp(`${name} +live`));

  const held = await enqueued("report", "--resource", "docs-db", "--input", '{"seconds":60}');
  const waiting = await enqueued("report", "--resource", "docs-db", "--title", "second in line");
  const explained = await until("it waits for the first", () => whyIf(waiting, /is in use by another task/), {
    withinMs: WITHIN_MS,
  });
  expect(explained).toMatch(/pending +second in line/);
  expect(explained).toMatch(/BLOCKED +Resource/);
  expect(explained).toContain("(running on inst-");
  expect((await signalbox("why")).stdout).toContain("second in line");
  expect((await signalbox("cancel", waiting)).stdout).toContain("is canceled; it had not started");

  const { claimedBy } = JSON.parse((await signalbox("why", held, "--json")).stdout);
  process.kill(instancePid(dev.child, claimedBy.name), "SIGKILL");
  await dev.sees(new RegExp(`noticed +${claimedBy.name} was lost`));
  await dev.sees(/took over +report +\(attempt 2\)/);
  const tooOld = await signalbox("cancel", held);
  expect(tooOld).toMatchObject({ code: 7, stdout: expect.stringContaining("had ended already (failed)") });
  const [, taskId = ""] = /signalbox cancel (\S+)/.exec(tooOld.stderr) ?? [];
  expect((await signalbox("cancel", taskId)).stdout).toContain("is canceling");

  expect(await dev.quit()).toBe(0);
  expect(whatIsLeft()).toEqual([]);
}, 120_000);

it("shares the database with a second one beside it; the last one out stops it", async () => {
  const first = await startDev();
  const second = await startDev();
  expect(second.text()).toMatch(/was running already/);
  expect(second.text()).toMatch(/API +http:\/\/127\.0\.0\.1:\d+\/api\/v1 +\(port \d+ is taken\)/);
  expect(namesIn(second.text()).filter((name) => namesIn(first.text()).includes(name))).toEqual([]);

  expect(await first.quit()).toBe(0);
  expect(first.text()).toMatch(/PostgreSQL stays/);
  await second.sees(/inst-\w {2,}claimed/);
  expect((await signalbox("status")).code).toBe(0);

  expect(await second.quit()).toBe(0);
  expect(second.text()).toMatch(/nothing is left running/);
  expect(whatIsLeft()).toEqual([]);
  expect(await signalbox("status")).toMatchObject({ code: 9, stdout: "" });
}, 120_000);

interface Dev {
  readonly child: ChildProcess;
  text(): string;
  sees(line: RegExp): Promise<void>;
  /** SIGTERM; answers the exit code. */
  quit(): Promise<number | null>;
}

async function startDev(): Promise<Dev> {
  const child = spawn(process.execPath, [BIN, "dev"], { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const sees: Dev["sees"] = async (line) => {
    await until(`dev says ${line.source}`, () => line.test(text), {
      withinMs: WITHIN_MS,
      instead: () => text,
    });
  };
  const dev: Dev = {
    child,
    text: () => text,
    sees,
    quit: async () => {
      child.kill("SIGTERM");
      return await exited;
    },
  };
  devs.push(dev);
  await sees(/SIGTERM stops it/);
  return dev;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function signalbox(...args: readonly string[]): Promise<Ended> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [BIN, ...args], { cwd: project }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function enqueued(...args: readonly string[]): Promise<string> {
  const { stdout } = await signalbox("enqueue", ...args, "--json");
  return JSON.parse(stdout).taskRunId;
}

async function whyIf(id: string, expected: RegExp): Promise<string | null> {
  const { stdout } = await signalbox("why", id);
  return expected.test(stdout) ? stdout : null;
}

function namesIn(banner: string): readonly string[] {
  return /Instances +(.*) {2}\(/.exec(banner)?.[1]?.split(/ +/) ?? [];
}

/** The instances are started in the order of their names. */
function instancePid(dev: ChildProcess, name: string): number {
  const pids = processes()
    .filter(({ parent }) => parent === dev.pid)
    .filter(({ command }) => /dev\/instance\.[jt]s/.test(command))
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);
  const pid = pids[name.charCodeAt("inst-".length) - "a".charCodeAt(0)];
  if (pid === undefined) throw new Error(`${name} is not among ${pids.join(", ")}`);
  return pid;
}

/** What runs in this project or on its data, and what devs have left registered. */
function whatIsLeft(): readonly string[] {
  const registered = readdirSync(join(project, ".signalbox", "dev"));
  const running = processes()
    .filter(({ cwd, command }) => cwd === project || command.includes(project))
    .map(({ command }) => command);
  return [...registered, ...running];
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly cwd: string;
  readonly command: string;
}

function processes(): readonly Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        return [{ pid: Number(name), parent, cwd: readlinkSync(`/proc/${name}/cwd`), command }];
      } catch {
        // Ended since it was listed.
        return [];
      }
    });
}
