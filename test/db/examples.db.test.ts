import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createScheduler } from "@signalbox/core";
import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";

const SERVICE = fileURLToPath(new URL("../../examples/embed/src/service.ts", import.meta.url));

describe("examples/embed", () => {
  let database: TestDatabase;
  let service: ChildProcess;

  beforeEach(async () => {
    database = await createTestDatabase(inject("adminUrl"));
  });

  afterEach(async () => {
    service.kill("SIGKILL");
    await database.drop();
  });

  it("runs the task of an order that was committed, and leaves nothing RUNNING on SIGTERM", async () => {
    service = run(SERVICE);
    await printed(service, "attempt 1");

    service.kill("SIGTERM");
    const [exitCode] = await once(service, "exit");

    expect(exitCode).toBe(0);
    expect(await values("SELECT id FROM orders")).toEqual(
      await values("SELECT input->>'orderId' FROM signalbox.task"),
    );
    expect(await values("SELECT status FROM signalbox.task_run")).toEqual(["DONE"]);
    expect(await values("SELECT DISTINCT state FROM signalbox.instance")).toEqual(["DEAD"]);
    expect(await brokenPromises()).toEqual([]);
  });

  function run(program: string): ChildProcess {
    return spawn(process.execPath, ["--import", "tsx", "--conditions=source", program], {
      env: { ...process.env, DATABASE_URL: database.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
  }

  async function values(text: string): Promise<readonly unknown[]> {
    const { rows } = await database.client.query({ text, rowMode: "array" });
    return rows.flat();
  }

  async function brokenPromises(): Promise<readonly unknown[]> {
    const scheduler = createScheduler({ databaseUrl: database.url });
    const { violations } = await scheduler.checkInvariants();
    await scheduler.stop();
    return violations;
  }
});

/** Answers all that was printed until then. Rejects when the process ends first. */
async function printed(child: ChildProcess, text: string): Promise<string> {
  let all = "";
  return await new Promise((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      all += chunk;
      if (all.includes(text)) resolve(all);
    });
    child.once("exit", (code) => reject(new Error(`It ended with ${String(code)} after printing: ${all}`)));
  });
}
