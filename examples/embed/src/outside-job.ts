import { defineTask, letGo } from "@signalbox/core";

/** A report that another service makes. It takes hours; no slot waits for it. */
export const makeReport = defineTask<{ url: string; month: string }>({
  kind: "make-report",
  run: async ({ url, month }, { taskRunId, keepHandle }) => {
    const job = `${url}/jobs/${taskRunId}`; // named by us: asked twice, it is still one job
    await keepHandle({ job }, { deadlineInMs: 6 * 3_600_000 }); // before it starts: nothing is forgotten
    await fetch(job, { method: "PUT", body: JSON.stringify({ month }) });
    return letGo({ handle: { job }, pollInMs: 30_000, deadlineInMs: 6 * 3_600_000 });
  },
  poll: async (handle, { signal }) => {
    const { job } = handle as { job: string };
    const answer = await fetch(job, { signal }); // what this throws says nothing about the job
    const { state, file, problem } = (await answer.json()) as Record<string, string | undefined>;
    if (state === "made") return { kind: "succeeded", output: { file } };
    if (state === "broken") return { kind: "failed", message: problem ?? "the report is broken" };
    return { kind: "running", pollInMs: 30_000 };
  },
  cancelOutside: async (handle) => {
    await fetch((handle as { job: string }).job, { method: "DELETE" });
  },
});

export const report = (url: string, month: string) =>
  makeReport.task({ url, month }, { onLost: "resume", retry: { attempts: 2 } });
