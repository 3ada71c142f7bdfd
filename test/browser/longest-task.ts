/**
 * How long a page kept its own thread at a stretch, in processor time as the browser's trace tells it. Not by the clock on the wall,
 * which a `PerformanceObserver` goes by: on a machine that does other things as well a page waits for its turn.
 */

import type { Browser } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

export interface LongestTask {
  /** Of all pages since it was begun. */
  readonly stop: () => Promise<number>;
}

export async function noteLongestTask(browser: Browser): Promise<LongestTask> {
  const session = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => void events.push(...(value as unknown as TraceEvent[])));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "devtools.timeline", "__metadata"] },
  });
  return {
    stop: async () => {
      const complete = new Promise<void>((resolve) =>
        session.once("Tracing.tracingComplete", () => resolve()),
      );
      await session.send("Tracing.end");
      await complete;
      await session.detach();
      return longestOf(events);
    },
  };
}

function longestOf(events: readonly TraceEvent[]): number {
  const placeOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const pages = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain").map(placeOf),
  );
  const tasks = events.filter((event) => event.tdur !== undefined && pages.has(placeOf(event)));
  if (tasks.length === 0) throw new Error("The trace tells of no task: nothing was measured");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}
