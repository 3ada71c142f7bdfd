/** Processes as they come out of either way to fork, and a forker that is killed or frozen. Without a database: only real processes. */

import { spawn } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { waitUntil } from "../../../test/wait-until.ts";
import { parentOf, wardenOf } from "../../../test/warden-of.ts";
import { monotonicMs } from "../monotonic.ts";
import { forkerCommand, framed, PERL } from "./fork-by-perl.ts";
import { PATIENCE, type Patience } from "./frozen-watch.ts";
import { createProcesses, type ExecutionProcesses, type Processes, type ProcessTerms } from "./processes.ts";
import type { ProcessEnd, ProcessSpec, RunningProcess } from "./running-process.ts";
import { childrenOf, livingGroups, readStat } from "./system-processes.ts";
import { OUTPUT_SOCKET } from "./warden-messages.ts";

const opened: Processes[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map(async ({ close }) => await close()));
});

const IMPATIENT: Patience = { ...PATIENCE, lateMs: 200, lookMs: 50 };

function open(
  perl: string,
  terms: Partial<ProcessTerms> = {},
  patience: Patience = PATIENCE,
): ExecutionProcesses {
  const processes = createProcesses(patience, perl);
  opened.push(processes);
  return processes.of({
    lease: { life: "one", leaseMs: 60_000, renewedAtMs: monotonicMs, reportTo: () => {} },
    deadline: null,
    onEnded: () => {},
    tell: () => {},
    ...terms,
  });
}

const SPEC: Omit<ProcessSpec, "argv"> = {
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  graceMs: 100,
  onOutput: () => {},
};

interface Ended {
  readonly child: RunningProcess;
  readonly end: ProcessEnd;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  host: ExecutionProcesses,
  spec: Partial<ProcessSpec> & Pick<ProcessSpec, "argv">,
): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  const child = await host.start({
    ...SPEC,
    onOutput: (stream, bytes) => {
      said[stream] += Buffer.from(bytes).toString();
    },
    ...spec,
  });
  return { child, end: await child.ended, ...said };
}

const sh = (text: string, ...args: readonly string[]): readonly string[] => ["/bin/sh", "-c", text, ...args];

async function stopped(child: RunningProcess): Promise<void> {
  child.stop(0);
  await child.ended;
}

/** Whether it is there, and not only not yet collected. */
const isAtWork = (pid: number): boolean => !"ZX".includes(readStat(String(pid))?.state ?? "X");

/** As the shell lists it: a number and what it leads to. */
function isOpenHere(line: string): boolean {
  const [fd, target] = line.split(" -> ");
  return existsSync(`/proc/self/fd/${fd}`) && readlinkSync(`/proc/self/fd/${fd}`) === target;
}

const WAYS = [
  ["forked by Perl", PERL],
  ["forked by Node, where there is no Perl", "/no-such-program"],
  ["forked by Node, where Perl does not do", "/bin/false"],
] as const;

describe.each(WAYS.filter(([, perl]) => perl !== PERL || existsSync(PERL)))("a process %s", (_, perl) => {
  it("gives what it printed on either output, and its exit code", async () => {
    const { end, stdout, stderr } = await run(open(perl), { argv: sh("echo out; echo err >&2; exit 3") });

    expect(end).toEqual({ exitCode: 3, signal: null, because: null, told: false });
    expect([stdout, stderr]).toEqual(["out\n", "err\n"]);
  });

  it("says the signal that it died of", async () => {
    const { end } = await run(open(perl), { argv: sh("kill -SEGV $$") });

    expect(end).toEqual({ exitCode: null, signal: "SIGSEGV", because: null, told: false });
  });

  it("gets its arguments, its variables, its folder and its input as they are", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fork-er-"));
    const stdinFile = join(folder, "input ü");
    await writeFile(stdinFile, "line\n");
    const env = { PATH: "/usr/bin:/bin", EMPTY: "", LINES: "a\nb=ü" };
    const argv = sh(
      'printf "[%s]" "$@"; printf "(%s)" "$EMPTY" "$LINES"; pwd; cat',
      "sh",
      "",
      "ü\n",
      "-e",
      " ",
    );

    const { stdout } = await run(open(perl), { argv, env, cwd: folder, stdinFile });

    expect(stdout).toBe(`[][ü\n][-e][ ]()(a\nb=ü)${folder}\nline\n`);
    await rm(folder, { recursive: true });
  });

  it.runIf(process.platform === "linux")(
    "leads a session of its own, hears every signal, and finds nothing open but its outputs",
    async () => {
      const host = open(perl);
      const { child, stdout } = await run(host, { argv: ["cut", "-d ", "-f5,6", "/proc/self/stat"] });
      const fds = await run(host, { argv: ["ls", "-l", "/proc/self/fd"] });
      const signals = await run(host, { argv: ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"] });

      expect(stdout).toBe(`${child.pid} ${child.pid}\n`);
      expect(signals.stdout).toBe("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
      // What this process itself was given by whoever started it, everybody below it has.
      const streams = fds.stdout.match(/\d+ -> (socket|pipe):.*/g) ?? [];
      const own = streams.filter((line) => !isOpenHere(line));
      expect(own.map((line) => line.split(" -> ")[0])).toEqual(["1", "2"]);
    },
  );

  it.runIf(process.platform === "linux")(
    "is named by its start time, also when it ends at once",
    async () => {
      const host = open(perl);
      const ends = await Promise.all(
        Array.from({ length: 100 }, async () => await run(host, { argv: ["/bin/true"] })),
      );

      for (const { child, end } of ends) {
        expect(child.startTime).toMatch(/^\d+$/);
        expect(end.exitCode).toBe(0);
      }
    },
  );

  it.each([
    ["no-such-program", "spawn no-such-program ENOENT"],
    ["/etc", "spawn /etc EACCES"],
  ])("that could not be started says why: %s", async (program, why) => {
    const host = open(perl);

    await expect(run(host, { argv: [program] })).rejects.toThrow(why);
    expect((await run(host, { argv: ["true"] })).end.exitCode).toBe(0);
  });
});

describe.runIf(existsSync(PERL))("a forker", () => {
  it("has told of an end in time, however late the warden hears of it", async () => {
    const lateAtMs = monotonicMs() + 1_500;
    const host = open(PERL, { deadline: { atMs: lateAtMs, maxGraceMs: 100 } });
    const child = await host.start({ ...SPEC, argv: ["sleep", "0.5"] });
    const warden = wardenOf(child.pid);
    // When it has told of this end it has nothing more to do.
    await run(host, { argv: ["true"] });

    process.kill(warden, "SIGSTOP");
    await waitUntil("its time is over", () => monotonicMs() > lateAtMs + 50);
    process.kill(warden, "SIGCONT");

    expect(await child.ended).toEqual({ exitCode: 0, signal: null, because: null, told: false });
  });

  it("that is killed takes with it what it had started, and the next process gets a new one", async () => {
    const because: string[] = [];
    const host = open(PERL, { onEnded: (why) => because.push(why) });
    const children = await Promise.all([
      host.start({ ...SPEC, argv: ["sleep", "100"] }),
      host.start({ ...SPEC, argv: sh("trap '' TERM; sleep 100 & wait") }),
    ]);
    const [{ pid }] = children;
    const [forker, warden] = [parentOf(pid), wardenOf(pid)];
    expect(forker).not.toBe(warden);

    process.kill(forker, "SIGKILL");

    await waitUntil("both have ended", () => because.length === 2);
    const ends = await Promise.all(children.map(async ({ ended }) => await ended));
    expect(livingGroups(children.map((child) => child.pid))).toEqual(new Set());
    expect(ends.map((end) => end.because)).toEqual(["warden_lost", "warden_lost"]);
    expect(because).toEqual(["warden_lost", "warden_lost"]);
    expect((await run(host, { argv: ["true"] })).end.exitCode).toBe(0);
  });

  it("that is frozen is noticed, and ended with all that it had started", async () => {
    const host = open(PERL, {}, IMPATIENT);
    const child = await host.start({ ...SPEC, argv: ["sleep", "100"] });
    const [forker, warden] = [parentOf(child.pid), wardenOf(child.pid)];
    process.kill(forker, "SIGSTOP");

    const said: string[] = [];
    host.start({ ...SPEC, argv: ["true"] }).catch(({ message }: Error) => said.push(message));

    await waitUntil("it is given up", () => said.length > 0);
    expect(said).toEqual(["The warden was lost"]);
    expect((await child.ended).because).toBe("warden_lost");
    expect(livingGroups([child.pid, warden])).toEqual(new Set());
    expect(isAtWork(forker)).toBe(false);
  });

  it.each([
    ["beside another process", false],
    ["alone", true],
  ])(
    "that is frozen does not begin later what it was asked for, %s: it is killed before the lease ends",
    async (_, isAlone) => {
      const leaseMs = 2_000;
      const renewedAtMs = monotonicMs() + 1_000;
      const lease = { life: "one", leaseMs, renewedAtMs: () => renewedAtMs, reportTo: () => {} };
      const host = open(PERL, { lease });
      const other = await host.start({ ...SPEC, argv: ["sleep", "100"] });
      const forker = parentOf(other.pid);
      if (isAlone) await stopped(other);
      process.kill(forker, "SIGSTOP");

      await expect(host.start({ ...SPEC, argv: ["true"] })).rejects.toThrow("The warden was lost");

      expect(monotonicMs()).toBeLessThan(renewedAtMs + leaseMs);
      expect(isAtWork(forker)).toBe(false);
    },
  );

  it("begins nothing more when who asked for it is gone", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fork-er-"));
    const [began, requests] = [join(folder, "began"), join(folder, "requests")];
    const server = createServer(() => {}).listen(join(folder, OUTPUT_SOCKET));
    // A shell in place of the warden, which can be killed without anybody who would tidy up.
    const [command, ...args] = forkerCommand(PERL, folder);
    const text = 'mkfifo "$0"; "$@" <>"$0" & echo $!; read -r _';
    const shell = spawn("/bin/sh", ["-c", text, requests, command, ...args], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    let said = "";
    shell.stdout.on("data", (piece: Buffer) => {
      said += piece.toString();
    });
    await waitUntil("it is ready", () => said.includes("ready"));
    const forker = Number.parseInt(said, 10);

    process.kill(forker, "SIGSTOP");
    await writeFile(
      requests,
      framed(["one", "/", "/dev/null", "2", "/usr/bin/touch", began, "PATH=/usr/bin:/bin"]),
    );
    shell.kill("SIGKILL");
    await waitUntil("it has another parent", () => readStat(String(forker))?.parentId !== shell.pid);
    process.kill(forker, "SIGCONT");

    await waitUntil("it is gone", () => !isAtWork(forker));
    expect(existsSync(began)).toBe(false);
    server.close();
    await rm(folder, { recursive: true });
  });

  it("that is frozen is ended with its warden", async () => {
    const { pid } = await open(PERL).start({ ...SPEC, argv: ["sleep", "100"] });
    const [forker, warden] = [parentOf(pid), wardenOf(pid)];
    process.kill(forker, "SIGSTOP");

    process.kill(warden, "SIGKILL");

    await waitUntil("it is gone", () => !isAtWork(forker));
  });

  describe.runIf(process.platform === "linux")("whose child hangs before it becomes its program", () => {
    /** Its input is a pipe to which nobody writes. */
    async function hang(
      terms: Partial<ProcessTerms> = {},
      { isAlone = false } = {},
    ): Promise<{
      readonly host: ExecutionProcesses;
      readonly forker: number;
      readonly warden: number;
      readonly child: number;
      readonly hanging: Promise<RunningProcess>;
    }> {
      const host = open(PERL, terms);
      const other = await host.start({ ...SPEC, argv: ["sleep", "100"] });
      const [forker, warden] = [parentOf(other.pid), wardenOf(other.pid)];
      const stdinFile = await makePipe(host);
      if (isAlone) await stopped(other);
      const hanging = host.start({ ...SPEC, argv: ["true"], stdinFile });
      hanging.catch(() => {});
      const others = (): readonly number[] => childrenOf(forker).filter((each) => each !== other.pid);
      await waitUntil("it is there", () => livingGroups(others()).size === 1);
      return { host, forker, warden, child: others()[0] ?? 0, hanging };
    }

    async function makePipe(host: ExecutionProcesses): Promise<string> {
      const path = join(await host.makeFolder(), "pipe");
      await run(host, { argv: ["mkfifo", path] });
      return path;
    }

    it("starts others meanwhile", async () => {
      const { host } = await hang();

      expect((await run(host, { argv: ["true"] })).end.exitCode).toBe(0);
    });

    it.each([
      ["beside another", false],
      ["alone", true],
    ])("has it ended when its time is over, %s", async (_, isAlone) => {
      const deadline = { atMs: monotonicMs() + 1_500, maxGraceMs: 100 };
      const { hanging } = await hang({ deadline }, { isAlone });

      const because = await hanging
        .then(async ({ ended }) => (await ended).because)
        .catch(() => "not started");

      expect(["run_timeout", "not started"]).toContain(because);
    });

    it("has it ended with the execution that asked for it", async () => {
      const { host, hanging, child } = await hang({}, { isAlone: true });

      let isOver = false;
      void host.endAll().then(() => {
        isOver = true;
      });

      await waitUntil("all of it is over", () => isOver);
      await Promise.allSettled([hanging.then(async ({ ended }) => await ended)]);
      expect(isAtWork(child)).toBe(false);
    });

    it("says that it is there, however many of them hang", async () => {
      const host = open(PERL, {}, IMPATIENT);
      const other = await host.start({ ...SPEC, argv: ["sleep", "100"] });
      const forker = parentOf(other.pid);
      const stdinFile = await makePipe(host);
      const lost: unknown[] = [];
      void other.ended.then((end) => lost.push(end));

      for (let n = 0; n < 40; n += 1) host.start({ ...SPEC, argv: ["true"], stdinFile }).catch(() => {});
      await waitUntil("all that may begin at once have begun", () => childrenOf(forker).length > 32);
      const askedAtMs = monotonicMs();
      await waitUntil("a frozen one would be given up", () => monotonicMs() > askedAtMs + 1_000);

      expect(lost).toEqual([]);
      await host.endAll();
    });

    it("leaves nothing of it behind when it is killed", async () => {
      const { forker, hanging, child } = await hang();

      process.kill(forker, "SIGKILL");

      await expect(hanging).rejects.toThrow("The warden was lost");
      expect(isAtWork(child)).toBe(false);
    });

    it("leaves nothing of it behind when the warden is killed", async () => {
      const { warden, hanging, child } = await hang();

      process.kill(warden, "SIGKILL");

      await expect(hanging).rejects.toThrow("The warden was lost");
      expect(isAtWork(child)).toBe(false);
    });
  });
});
