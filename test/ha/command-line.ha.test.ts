/** The command line as a process: what is on which stream, exit codes, Ctrl-C. */

import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, inject, test } from "vitest";
import { EXIT } from "../../packages/server/src/cli/exit-code.ts";
import { createApi } from "../../packages/server/src/http/create-api.ts";
import { listenOnLoopback } from "../../packages/server/src/http/listen.ts";
import { flaky, openCli } from "../../packages/server/test/cli-fixture.ts";

const box = await openCli(inject("adminUrl"));
afterAll(box.close);

const ESC = "\u001b";
const MAIN = fileURLToPath(new URL("../../packages/server/dist/cli/main.js", import.meta.url));

describe("in a pipe", () => {
  test("there is no escape byte, whatever an error or a log has in it", async () => {
    const { taskRunId } = await box.scheduler.enqueue(flaky.task(null));
    await box.scheduler.runUntilIdle();

    const answers = await Promise.all([
      box.run("task", "list"),
      box.run("task", "show", taskRunId),
      box.run("task", "show", taskRunId, "--json"),
      box.run("logs", taskRunId),
    ]);

    for (const { said, noted, exitCode } of answers) {
      expect(said + noted).not.toContain(ESC);
      expect(said).not.toBe("");
      expect(exitCode).toBe(EXIT.ok);
    }
    expect(answers[1]?.said).toContain("Not yet·[2J");
    expect(answers[3]?.said).toBe("attempt 1\nred\n");
  });

  test("colour is there where it was asked for", async () => {
    const [forced, refused] = await Promise.all([
      box.start(["task", "list"], { FORCE_COLOR: "1" }).end,
      box.start(["task", "list", "--no-color"], { FORCE_COLOR: "1" }).end,
    ]);

    expect(forced.said).toContain(ESC);
    expect(refused.said).not.toContain(ESC);
  });
});

/** A terminal for a process that has none. */
const script = spawnSync("script", ["--version"]).error === undefined;
if (!script) process.stdout.write("colour in a terminal: skipped, there is no script (util-linux)\n");

describe.skipIf(!script)("in a terminal", () => {
  const inTerminal = async (given: Record<string, string>): Promise<string> => {
    const { FORCE_COLOR: _, NO_COLOR: __, CI: ___, ...inherited } = process.env;
    const ours = { TERM: "xterm", SIGNALBOX_SERVER_URL: box.server, XDG_CONFIG_HOME: box.home };
    const env = { ...inherited, ...ours, ...given };
    const { stdout } = await promisify(execFile)(
      "script",
      ["-qec", `"${process.execPath}" "${MAIN}" task list`, "/dev/null"],
      { env },
    );
    return stdout;
  };

  test("there is colour, and none with NO_COLOR", async () => {
    await box.scheduler.enqueue(flaky.task(null, { runAt: LATER }));

    expect(await inTerminal({})).toContain(ESC);
    expect(await inTerminal({ NO_COLOR: "" })).toContain(ESC);
    expect(await inTerminal({ NO_COLOR: "1" })).not.toContain(ESC);
  });
});

describe("exit codes and errors", () => {
  test.each([
    [["task", "show", "00000000-0000-7000-8000-000000000000"], EXIT.notFound, "TASK_NOT_FOUND"],
    [["runs", "show", "00000000"], EXIT.notFound, "RUN_NOT_FOUND"],
    [["why", "0"], EXIT.usage, "USAGE"],
    [["task", "list", "--since", "yesterday"], EXIT.usage, "USAGE"],
    [["status", "--server", "http://127.0.0.1:9"], EXIT.unreachable, "UNREACHABLE"],
  ])("%j", async (words, exitCode, code) => {
    const answer = await box.run(...words, "--json");

    expect(answer).toMatchObject({ said: "", exitCode });
    expect(answer.noted.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(answer.noted)).toMatchObject({ error: { code, message: expect.any(String) } });
  });

  test("a database that is none is the fault of the flag", async () => {
    const { noted, exitCode } = await box.run("dev", "--database-url", "foo");

    expect(noted).toMatch(/^--database-url is not a URL/);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe("watching", () => {
  test("appends a line for each change, and ends as the task does", async () => {
    const { taskId } = await box.scheduler.enqueue(flaky.task(null, { title: "watched" }));
    const watching = box.start(["task", "show", taskId, "--watch", "--interval", "50ms"]);

    await watching.sees("watched");
    await box.scheduler.runUntilIdle();
    const { said, exitCode } = await watching.end;

    expect(said).toMatch(/^\d\d:\d\d:\d\d . failed {2}watched {2}attempt 1 .*Not yet/m);
    expect(exitCode).toBe(EXIT.failed);
  });

  test("is told by the server what has changed, however seldom it would look by itself", async () => {
    const { taskId } = await box.scheduler.enqueue(flaky.task(null, { title: "told" }));
    const watching = box.start(["task", "show", taskId, "--watch", "--interval", "1h"]);

    await watching.sees("told");
    await box.scheduler.runUntilIdle();

    expect((await watching.end).exitCode).toBe(EXIT.failed);
  });

  test("looks by itself where the server tells nothing", async () => {
    const { scheduler } = box;
    const api = createApi({ scheduler, serverId: "server-3", logger: { error: () => {} } });
    api.addHook("onRequest", async ({ url }, reply) => {
      if (url.startsWith("/api/v1/stream")) await reply.code(404).send({});
    });
    const { url } = await listenOnLoopback(api, 28_710);
    const { taskId } = await scheduler.enqueue(flaky.task(null, { title: "looked at" }));
    const watching = box.start(["task", "show", taskId, "--watch", "--interval", "50ms", "--server", url]);

    await watching.sees("looked at");
    await scheduler.runUntilIdle();

    expect((await watching.end).exitCode).toBe(EXIT.failed);
    await api.close();
  });

  test("a run in a pipe has no escape byte, and ends with what failed", async () => {
    const tasks = [flaky.task(null, { title: "breaks" }), flaky.task(null, { title: "breaks too" })];
    const { runId } = await box.scheduler.enqueueMany(tasks, { run: { title: "nightly" } });
    const watching = box.start(["runs", "watch", runId ?? ""]);

    await watching.sees("breaks");
    await box.scheduler.runUntilIdle();
    const { said, noted, exitCode } = await watching.end;

    expect(said + noted).not.toContain(ESC);
    expect(said).toMatch(
      /\nFailed \(2\):\n(?: {2}breaks.* attempt 1 {2}HANDLER_FAILED {2}signalbox logs \S+\n){2}$/,
    );
    expect(exitCode).toBe(EXIT.failed);
  });

  test("Ctrl-C detaches, says so, and the work goes on", async () => {
    const { taskId } = await box.scheduler.enqueue(flaky.task(null, { title: "goes on", runAt: LATER }));
    const watching = box.start(["task", "show", taskId, "--watch"]);

    await watching.sees("goes on");
    watching.interrupt();
    const { noted, exitCode } = await watching.end;

    expect(exitCode).toBe(EXIT.interrupted);
    expect(noted).toContain(`Detached; the work goes on. Again: signalbox task show ${taskId} --watch`);
    expect((await box.scheduler.get(taskId)).status).toBe("PENDING");
  });

  test("time that is up says what it still waits for", async () => {
    const { taskId } = await box.scheduler.enqueue(flaky.task(null, { runAt: LATER }));

    const { said, noted, exitCode } = await box.run("task", "show", taskId, "--watch", "--timeout", "100ms");

    expect(exitCode).toBe(EXIT.timedOut);
    expect(said).toContain("it is scheduled for");
    expect(noted).toContain("Time is up");
  });

  test("a canceled task and a log that is followed end by themselves", async () => {
    const { taskId } = await box.scheduler.enqueue(flaky.task(null, { runAt: LATER }));
    await box.scheduler.cancel(taskId);

    const [watched, followed] = await Promise.all([
      box.run("task", "show", taskId, "--watch", "--json"),
      box.run("logs", taskId, "--follow"),
    ]);

    expect(watched.exitCode).toBe(EXIT.canceled);
    expect(JSON.parse(watched.said)).toMatchObject({ taskId, status: "CANCELED" });
    expect(followed).toMatchObject({ said: "", exitCode: EXIT.ok });
  });
});

describe("tokens", () => {
  test("are asked for by a server that wants one, and let their owner in", async () => {
    const token = "a-token-that-is-long-enough-for-this-server";
    const { scheduler } = box;
    const api = createApi({ scheduler, serverId: "server-2", logger: { error: () => {} }, token });
    const { url } = await listenOnLoopback(api, 28_610);
    const file = join(box.home, "server-token");
    await writeFile(file, `${token}\n`);

    const [without, within] = await Promise.all([
      box.start(["status", "--json"], { SIGNALBOX_SERVER_URL: url }).end,
      box.start(["status", "--json"], { SIGNALBOX_SERVER_URL: url, SIGNALBOX_TOKEN_FILE: file }).end,
    ]);
    await api.close();

    expect(without.exitCode).toBe(EXIT.notAllowed);
    expect(JSON.parse(without.noted).error).toMatchObject({
      code: "UNAUTHENTICATED",
      hint: expect.stringContaining("--token-file"),
    });
    expect(within.exitCode).toBe(EXIT.ok);
    expect(within.said).not.toContain(token);
  });

  test("go to the server they are meant for, from a file, the environment or a context", async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const file = join(box.home, "token");
    await writeFile(file, "from-file\n");

    const ask = ["api", "GET", "/x"];
    await box.start([...ask, "--server", address, "--token-file", file], { SIGNALBOX_TOKEN: "env" }).end;
    await box.start([...ask, "--server", address], { SIGNALBOX_TOKEN: "env" }).end;
    await box.run("context", "add", "other", "--server", address, "--token-file", file);
    await box.run(...ask, "--context", "other");
    await box.run(...ask, "--server", address);
    server.close();

    expect(seen).toEqual(["Bearer from-file", "Bearer env", "Bearer from-file", undefined]);
  });
});

const LATER = new Date("2126-11-16T12:00:00Z");
