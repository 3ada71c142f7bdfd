import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { clusterIn } from "./cluster.ts";
import { PostgresLaunchError } from "./launch-error.ts";
import { removePostgres } from "./remove.ts";
import { type PostgresOptions, type RunningPostgres, startPostgres } from "./start.ts";

const IS_ROOT = process.getuid?.() === 0;
const START_URL = new URL("./start.ts", import.meta.url).href;

const started: RunningPostgres[] = [];
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "signalbox-start-"));
  await chmod(root, 0o755); // open to the user that a root lends to the server
});

afterEach(async () => {
  for (const running of started.splice(0)) await running.stop();
});

afterAll(() => rm(root, { recursive: true, force: true }));

async function start(dir: string, more: Omit<PostgresOptions, "dir"> = {}): Promise<RunningPostgres> {
  const running = await startPostgres({ durable: false, ...more, dir });
  started.push(running);
  return running;
}

async function ask(url: string, text: string): Promise<unknown> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: unknown }>(text);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}

async function failure(dir: string, more: Omit<PostgresOptions, "dir"> = {}): Promise<PostgresLaunchError> {
  const error = await start(dir, more).then(
    () => null,
    (caught: unknown) => caught,
  );
  if (error instanceof PostgresLaunchError) return error;
  throw new Error("It started, or failed without a code", { cause: error });
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postmaster.pid"), "utf8"), 10);
}

async function isGone(pid: number): Promise<boolean> {
  const state = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return state === "";
}

/** Another process that starts the server of `dir`, tells how, and stays. */
function startElsewhere(dir: string): {
  readonly child: ChildProcess;
  readonly told: Promise<RunningPostgres>;
} {
  const code = `
    const { startPostgres } = await import(${JSON.stringify(START_URL)});
    const running = await startPostgres({ dir: ${JSON.stringify(dir)}, durable: false });
    process.stdout.write(JSON.stringify(running) + "\\n");
    setInterval(() => {}, 60_000);`;
  const args = ["--import", "tsx", "--conditions=source", "--input-type=module", "--eval", code];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const told = once(createInterface(child.stdout), "line").then(
    ([line]) => JSON.parse(line) as RunningPostgres,
  );
  return { child, told };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

describe("one server", () => {
  let dir: string;

  beforeAll(async () => {
    dir = join(root, "one", ".signalbox");
    await (await start(dir)).stop();
  });

  afterAll(() => removePostgres(dir));

  it("runs on loopback with a database of ours and a password only we can read", async () => {
    const running = await start(dir, { settings: { track_commit_timestamp: "off", work_mem: "5MB" } });

    expect(running).toMatchObject({ owned: true, dataDir: clusterIn(dir).dataDir });
    expect(await ask(running.url, "SELECT current_database() AS answer")).toBe("signalbox");
    expect(await ask(running.url, "SELECT current_setting('listen_addresses') AS answer")).toBe("127.0.0.1");
    expect(await ask(running.url, "SELECT current_setting('work_mem') AS answer")).toBe("5MB");
    expect((await stat(clusterIn(dir).passwordFile)).mode & 0o777).toBe(0o600);
    await expect(ask(running.url.replace(/:[^:@]+@/, ":wrong@"), "SELECT 1")).rejects.toThrow("password");
  });

  it("is adopted by the second start, and stopped only by its owner", async () => {
    const owner = await start(dir);
    const pid = await postmasterPid(owner.dataDir);

    const adopted = await start(dir);
    await adopted.stop();

    expect(adopted).toMatchObject({
      owned: false,
      url: owner.url,
      version: owner.version,
      source: owner.source,
    });
    expect(await ask(owner.url, "SELECT 1 AS answer")).toBe(1);

    await owner.stop();
    await owner.stop();

    expect(await isGone(pid)).toBe(true);
  });

  it("keeps its data through kill -9 of the server", async () => {
    const first = await start(dir, { settings: { synchronous_commit: "on" } });
    await ask(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    process.kill(await postmasterPid(first.dataDir), "SIGKILL");

    const second = await start(dir);

    expect(second).toMatchObject({ owned: true, port: first.port });
    expect(await ask(second.url, "SELECT answer FROM kept")).toBe(42);
  });

  it("starts over a postmaster.pid whose process id belongs to somebody else", async () => {
    const { pidFile, dataDir } = clusterIn(dir);
    const other = spawn("sleep", ["60"], { ...(await ownerOf(dataDir)), stdio: "ignore" });
    await once(other, "spawn");
    await writeFile(
      pidFile,
      `${other.pid}\n${dataDir}\n1763250000\n1\n\n127.0.0.1\n  1234567  9\nready   \n`,
    );

    const running = await start(dir);
    await kill(other);

    expect(running.owned).toBe(true);
  });

  it("takes another port when somebody has its own", async () => {
    const first = await start(dir);
    await first.stop();
    const somebody = createServer().listen(first.port, "127.0.0.1");
    await once(somebody, "listening");

    const second = await start(dir);
    await new Promise((resolve) => somebody.close(resolve));

    expect(second.port).not.toBe(first.port);
    expect(await ask(second.url, "SELECT 1 AS answer")).toBe(1);
  });

  it("says what the log says, and where the log is, when it does not start", async () => {
    const error = await failure(dir, { settings: { shared_buffers: "a lot" } });

    expect(error.code).toBe("START_FAILED");
    expect(error.message).toContain(clusterIn(dir).logFile);
    expect(error.message).toContain('"shared_buffers"');
  });

  it("names the way out of data of another major version", async () => {
    const file = join(clusterIn(dir).dataDir, "PG_VERSION");
    const version = await readFile(file, "utf8");
    await writeFile(file, "13\n");

    const error = await failure(dir);
    await writeFile(file, version);

    expect(error.code).toBe("WRONG_MAJOR_VERSION");
    expect(error.message).toContain("PostgreSQL 13");
    expect(error.message).toContain("signalbox dev --reset");
  });

  it("names PG_BINDIR when there is nothing in it", async () => {
    const error = await failure(dir, { binDir: root });

    expect(error.code).toBe("NO_BINARIES");
    expect(error.message).toContain(`PG_BINDIR ${root}`);
  });
});

describe("several processes", () => {
  const children: ChildProcess[] = [];
  let dir: string;

  afterEach(async () => {
    await Promise.all(children.splice(0).map(kill));
    await removePostgres(dir);
  });

  it("share one server that outlives them, and leave nothing once it is removed", async () => {
    dir = join(root, "several", ".signalbox");
    const racers = [startElsewhere(dir), startElsewhere(dir), startElsewhere(dir)];
    children.push(...racers.map(({ child }) => child));

    const told = await Promise.all(racers.map((racer) => racer.told));

    expect(told.filter(({ owned }) => owned)).toHaveLength(1);
    expect(new Set(told.map(({ url }) => url)).size).toBe(1);
    expect(await readdir(dir)).toEqual(["postgres"]);

    await Promise.all(children.splice(0).map(kill));
    const adopted = await start(dir);

    expect(adopted).toMatchObject({ owned: false, url: told[0]?.url });
    expect(await ask(adopted.url, "SELECT 1 AS answer")).toBe(1);

    const pid = await postmasterPid(adopted.dataDir);
    await writeFile(join(dir, "not-ours"), "");
    await removePostgres(dir);

    expect(await isGone(pid)).toBe(true);
    expect(await readdir(dir)).toEqual(["not-ours"]);
  });
});

describe.runIf(IS_ROOT)("root in a private folder", () => {
  it("gets its data where the server's user can reach it, and can remove it again", async () => {
    const home = join(root, "private");
    await mkdir(home, { mode: 0o700 });

    const running = await start(join(home, ".signalbox"));
    const place = dirname(dirname(running.dataDir));

    expect(place).toMatch(/^\/var\/lib\/signalbox\/[0-9a-f]{16}$/);
    expect(await ask(running.url, "SELECT current_setting('data_directory') AS answer")).toBe(
      running.dataDir,
    );

    await removePostgres(join(home, ".signalbox"));

    await expect(stat(place)).rejects.toThrow("ENOENT");
  });
});

async function ownerOf(path: string): Promise<{ readonly uid?: number; readonly gid?: number }> {
  const { uid, gid } = await stat(path);
  return IS_ROOT ? { uid, gid } : {};
}
