import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { ownMark, wardenSign } from "../executors/process/process-mark.ts";
import { startTimeOf } from "../executors/process/system-processes.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { createNeighbours } from "./neighbours.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const box = await openFixture(inject("adminUrl"));
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await end(child);
  await box.clear();
});
afterAll(box.close);

const own = ownMark();
const onLinux = describe.runIf(process.platform === "linux");

/** A process that only is there. */
async function start(...args: readonly string[]): Promise<{ readonly child: ChildProcess; mark: string }> {
  const child = spawn(process.execPath, ["-e", "console.log(1); setInterval(() => {}, 1e6)", "--", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, "data");
  return { child, mark: `${child.pid}:${startTimeOf(child.pid ?? 0)}` };
}
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** An instance with something RUNNING whose row says that it is this process. */
async function instanceIn(mark: string, host = own?.host): Promise<ManualScheduler> {
  const instance = await box.scheduler({ name: "old" });
  await instance.enqueue(echo.task(1));
  await instance.claim();
  const place = [host, mark, instance.instanceId];
  await box.query("UPDATE signalbox.instance SET host = $1, process = $2 WHERE boot_id = $3", place);
  return instance;
}
async function stateOf({ instanceId }: ManualScheduler): Promise<string> {
  return await box.value("SELECT state FROM signalbox.instance WHERE boot_id = $1", [instanceId]);
}
function neighbours(): { readonly expire: () => Promise<void>; readonly events: readonly SchedulerEvent[] } {
  const events: SchedulerEvent[] = [];
  return { ...createNeighbours(box.pool("starter"), (event) => void events.push(event)), events };
}

onLinux("an instance that starts", () => {
  it("expires one whose process is gone from this host, and what that had RUNNING is rescued at once", async () => {
    const { child, mark } = await start();
    const old = await instanceIn(mark);
    await end(child);
    const starting = neighbours();

    await starting.expire();

    expect(await stateOf(old)).toBe("DEAD");
    expect(starting.events).toMatchObject([{ type: "instance.lost", lostName: "old" }]);
    const rescuer = await box.scheduler();
    expect(await rescuer.rescue()).toBe(1);
    expect(await old.renew()).toBe(false);
  });

  it("leaves one alone whose process lives", async () => {
    const { mark } = await start();
    const old = await instanceIn(mark);
    const starting = neighbours();

    await starting.expire();

    expect(await stateOf(old)).toBe("LIVE");
    expect(starting.events).toEqual([]);
  });

  it("knows nothing of processes of another host, whatever their ids", async () => {
    const { child, mark } = await start();
    const old = await instanceIn(mark, `${own?.host} of another`);
    await end(child);

    await neighbours().expire();

    expect(await stateOf(old)).toBe("LIVE");
  });

  it("waits until the warden of the old one has gone, which ends what was left behind", async () => {
    const { child, mark } = await start();
    const { child: warden } = await start(wardenSign(mark));
    const old = await instanceIn(mark);
    await end(child);
    const starting = neighbours();

    await starting.expire();
    expect(await stateOf(old)).toBe("LIVE");

    await end(warden);
    await starting.expire();
    expect(await stateOf(old)).toBe("DEAD");
  });

  it("marks nobody twice: one who was found dead by others stays as it is", async () => {
    const { child, mark } = await start();
    const old = await instanceIn(mark);
    await end(child);
    const [first, second] = [neighbours(), neighbours()];

    await Promise.all([first.expire(), second.expire()]);

    expect(await stateOf(old)).toBe("DEAD");
    expect([...first.events, ...second.events]).toHaveLength(1);
  });
});
