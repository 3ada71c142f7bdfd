import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLoop, inParallel, type Loop, type LoopOptions } from "./loop.ts";

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A loop with a count of its passes and what went wrong in them. */
function loopOf(options: Partial<LoopOptions>): {
  loop: Loop;
  passes: () => number;
  errors: unknown[];
  told: unknown[];
} {
  let passes = 0;
  const errors: unknown[] = [];
  const told: unknown[] = [];
  const loop = createLoop({
    name: "test",
    intervalMs: HOUR_MS,
    onPassed: (name, tookMs) => told.push([name, tookMs]),
    onError: (error, name) => errors.push([name, error]),
    ...options,
    pass: async () => {
      passes += 1;
      return (await options.pass?.()) ?? "rest";
    },
  });
  return { loop, passes: () => passes, errors, told };
}

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe("a loop", () => {
  it("makes a pass as soon as it is started, and rests", async () => {
    const { loop, passes } = loopOf({});

    loop.start();
    await settled();

    expect(passes()).toBe(1);
    await loop.stop();
  });

  it("that is to rest first makes its first pass after that, or when it is woken", async () => {
    const [resting, woken] = [loopOf({}), loopOf({})];
    resting.loop.start(1_000);
    woken.loop.start(1_000);
    await vi.advanceTimersByTimeAsync(999);
    expect([resting.passes(), woken.passes()]).toEqual([0, 0]);

    woken.loop.wake();
    await settled();
    expect([resting.passes(), woken.passes()]).toEqual([0, 1]);

    await vi.advanceTimersByTimeAsync(1);
    expect([resting.passes(), woken.passes()]).toEqual([1, 1]);
    await Promise.all([resting.loop.stop(), woken.loop.stop()]);
  });

  it("makes the next pass after the interval, a fifth more or less", async () => {
    const { loop, passes } = loopOf({ intervalMs: 1_000 });
    loop.start();

    await vi.advanceTimersByTimeAsync(799);
    expect(passes()).toBe(1);
    await vi.advanceTimersByTimeAsync(401);
    expect(passes()).toBe(2);
    await loop.stop();
  });

  it("wakes at once from its rest", async () => {
    const { loop, passes } = loopOf({});
    loop.start();
    await settled();

    loop.wake();
    await settled();

    expect(passes()).toBe(2);
    await loop.stop();
  });

  it("does not lose a wake-up that comes during a pass", async () => {
    const { loop, passes } = loopOf({
      pass: async () => {
        if (passes() === 1) loop.wake();
        return "rest";
      },
    });

    loop.start();
    await settled();

    expect(passes()).toBe(2);
    await loop.stop();
  });

  it("makes one more pass, however often it was woken", async () => {
    const { loop, passes } = loopOf({});
    loop.start();
    await settled();

    for (let wake = 0; wake < 5; wake += 1) loop.wake();
    await settled();

    expect(passes()).toBe(2);
    await loop.stop();
  });

  it("comes back when its pass says, but never later than the interval", async () => {
    const rests = [50, 2 * HOUR_MS];
    const { loop, passes } = loopOf({
      pass: async () => ({ againInMs: rests.shift() ?? 2 * HOUR_MS }),
    });
    loop.start();

    await vi.advanceTimersByTimeAsync(49);
    expect(passes()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(passes()).toBe(2);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(passes()).toBe(3);
    await loop.stop();
  });

  it("survives a throw: tells it, waits a little, and goes on", async () => {
    const problem = new Error("The database is down");
    const { loop, passes, errors } = loopOf({
      pass: async () => {
        if (passes() === 1) throw problem;
        return "rest";
      },
    });

    loop.start();
    await settled();
    expect(errors).toEqual([["test", problem]]);
    expect(passes()).toBe(1);

    await vi.advanceTimersByTimeAsync(500);
    expect(passes()).toBe(2);
    await loop.stop();
  });

  it("waits twice as long after each throw in a row, at most five seconds, and shortly again when one went well", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(1);
    const rests: number[] = [];
    let last = Date.now();
    const { loop, passes } = loopOf({
      pass: async () => {
        rests.push(Date.now() - last);
        last = Date.now();
        if (passes() === 8) return { againInMs: 10 };
        throw new Error("The database is down");
      },
    });

    loop.start();
    await vi.advanceTimersByTimeAsync(30_000);

    expect(rests.slice(0, 10)).toEqual([0, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 10, 500]);
    random.mockRestore();
    await loop.stop();
  });

  it("tells each pass that ended well, and how long it took", async () => {
    const { loop, passes, told } = loopOf({
      pass: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        if (passes() === 1) throw new Error("Not this one");
        return "rest";
      },
    });

    loop.start();
    await vi.advanceTimersByTimeAsync(30);
    expect(told).toEqual([]);

    await vi.advanceTimersByTimeAsync(530);
    expect(told).toEqual([["test", 30]]);
    const stopped = loop.stop();
    await stopped;
  });

  it("makes no pass before it is started, woken or not", async () => {
    const { loop, passes } = loopOf({});

    loop.wake();
    await settled();

    expect(passes()).toBe(0);
  });

  it("never makes two passes at once", async () => {
    let [now, most] = [0, 0];
    const { loop, passes } = loopOf({
      pass: async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 10));
        now -= 1;
        return passes() < 5 ? { againInMs: 0 } : "rest";
      },
    });

    loop.start();
    loop.start();
    for (let wake = 0; wake < 10; wake += 1) {
      loop.wake();
      await vi.advanceTimersByTimeAsync(7);
    }

    const stopped = loop.stop();
    await vi.advanceTimersByTimeAsync(10);
    await stopped;
    expect(most).toBe(1);
  });
});

describe("a loop that is stopped", () => {
  it("ends its rest and makes no further pass", async () => {
    const { loop, passes } = loopOf({});
    loop.start();
    await settled();

    await loop.stop();
    loop.wake();
    await vi.advanceTimersByTimeAsync(2 * HOUR_MS);

    expect(passes()).toBe(1);
  });

  it("waits for the pass that is under way", async () => {
    let ended = false;
    const { loop } = loopOf({
      pass: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        ended = true;
        return "rest";
      },
    });
    loop.start();
    await settled();

    const stopped = loop.stop();
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await stopped;

    expect(ended).toBe(true);
  });

  it("can be started again", async () => {
    const { loop, passes } = loopOf({});
    loop.start();
    await settled();
    await loop.stop();

    loop.start();
    await settled();

    expect(passes()).toBe(2);
    await loop.stop();
  });

  it("is stopped at once when it never ran", async () => {
    await loopOf({}).loop.stop();
  });
});

describe("loops in parallel", () => {
  it("are started, woken and stopped as one", async () => {
    const [one, other] = [loopOf({}), loopOf({})];
    const both = inParallel([one.loop, other.loop]);

    both.start();
    await settled();
    both.wake();
    await settled();
    await both.stop();
    both.wake();
    await settled();

    expect([one.passes(), other.passes()]).toEqual([2, 2]);
  });
});
