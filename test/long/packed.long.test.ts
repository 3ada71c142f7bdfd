/** What a user installs: the packed packages in an empty folder, and the first minutes with them. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@signalbox/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../ha/serve-process.ts";
import { until } from "../ha/until.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WITHIN = { withinMs: 60_000 };
/** What an install says where the registry is out of reach. */
const OFFLINE = /E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NOTCACHED)|network/;
const ORDERS = [{ name: "database:orders", mode: "exclusive" as const }];

let folder: string;
let installed = false;
const devs: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), `signalbox-test-${hostname()}-${process.pid}-packed-`));
  // The private PostgreSQL may be another user's.
  await chmod(folder, 0o755);
  const packages = ["@signalbox/core", "@signalbox/contract", "signalbox"].flatMap((name) => [
    "--workspace",
    name,
  ]);
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", folder, ...packages], ROOT);
  expect(packed).toMatchObject({ code: 0 });
  const tarballs = (await readdir(folder)).filter((name) => name.endsWith(".tgz")).map((name) => `./${name}`);
  expect(tarballs).toHaveLength(3);
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs];
  const { code, stderr } = await run("npm", install, folder);
  installed = code === 0;
  if (!installed && !OFFLINE.test(stderr)) throw new Error(stderr);
}, 300_000);

afterAll(async () => {
  for (const { child } of devs) child.kill("SIGTERM");
  await Promise.all(devs.map(async ({ ended }) => await ended));
  if (installed) await signalbox("dev", "--reset");
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(file: string, args: readonly string[], cwd: string): Promise<Ended> {
  const { DATABASE_URL: _, NODE_OPTIONS: __, ...env } = process.env;
  return await new Promise((resolve) => {
    execFile(file, args, { cwd, env, maxBuffer: 10_000_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

async function signalbox(...words: readonly string[]): Promise<Ended> {
  return await run(join(folder, "node_modules/.bin/signalbox"), words, folder);
}

/** `signalbox dev` until the test is over, and where it answers. */
async function startDev() {
  const port = await freePort();
  const { DATABASE_URL: _, SIGNALBOX_DATABASE_URL: __, ...env } = process.env;
  const bin = join(folder, "node_modules/signalbox/bin/signalbox.js");
  const child = spawn(process.execPath, [bin, "dev", "--no-demo", "--port", String(port)], {
    cwd: folder,
    env: { ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  devs.push({ child, ended });
  const url = await until("it says where it is", () => /API +(http:\S+?)\/api\/v1/.exec(said)?.[1] ?? null, {
    ...WITHIN,
    instead: () => said,
  });
  return { url, child, ended };
}

async function post(url: string, body: object): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/api/v1/task-runs`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { readonly taskRunId: string }).taskRunId;
}

it("is installed from its tarballs, starts, and shows why a second task waits", async (test) => {
  if (!installed) {
    process.stdout.write("packed: skipped, the registry cannot be reached from here\n");
    return test.skip();
  }
  expect((await signalbox("--version")).stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  const library =
    'import { createScheduler } from "@signalbox/core"; import { createManualScheduler } from "@signalbox/core/testing"; console.log(typeof createScheduler, typeof createManualScheduler)';
  expect(await run(process.execPath, ["--input-type=module", "-e", library], folder)).toMatchObject({
    code: 0,
    stdout: "function function\n",
  });

  const { url, child, ended } = await startDev();
  const client = createClient(url);
  expect(await (await fetch(url)).text()).toContain("<!doctype html>");

  const first = await post(url, { kind: "report", resources: ORDERS, input: { seconds: 600 } });
  const second = await post(url, { kind: "report", resources: ORDERS, input: { seconds: 0 } });
  const blocking = await until(
    "it waits for the first",
    async () => {
      const { gates } = await client.explain(second);
      return gates.find(({ code, state }) => code === "RESOURCE_BUSY" && state === "blocking") ?? null;
    },
    WITHIN,
  );
  expect(JSON.stringify(blocking)).toContain(first);
  const why = await signalbox("why", second, "--server", url);
  expect(why).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringContaining("is in use by another task"),
  });

  const leases = async (): Promise<ReadonlyMap<string, string>> =>
    new Map((await client.listInstances()).instances.map(({ name, leaseUntil }) => [name, leaseUntil]));
  const before = await leases();
  expect([...before.keys()].toSorted()).toEqual(["inst-a", "inst-b", "inst-c"]);
  await until(
    "each lease was renewed",
    async () => [...(await leases())].every(([name, leaseUntil]) => leaseUntil > (before.get(name) ?? "")),
    WITHIN,
  );

  const statuses = new Set<string>();
  const leave = new AbortController();
  for await (const event of client.watch([`task-runs/${second}`], { signal: leave.signal })) {
    const [, status] = /"status":"([A-Z]+)"/.exec(JSON.stringify(event)) ?? [];
    if (status === undefined) continue;
    if (statuses.size === 0) await client.cancel(first);
    statuses.add(status);
    if (status === "DONE") leave.abort();
  }
  expect([...statuses].at(0)).toBe("PENDING");
  expect([...statuses].at(-1)).toBe("DONE");

  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});
