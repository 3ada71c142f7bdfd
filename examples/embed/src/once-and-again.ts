/** What docs/guide/once-and-again.md shows, as a program that runs. */

import { env } from "node:process";
import { createScheduler, defineTask } from "@signalbox/core";

const databaseUrl = env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";
const sendInvoice = defineTask<{ orderId: string }>({
  kind: "send-invoice",
  run: ({ orderId }, { attempt }) => {
    if (orderId === "o-2" && attempt === 1) throw new Error("The mail server is away");
  },
});

const DAY = 86_400_000;
const scheduler = createScheduler({
  databaseUrl,
  tasks: [sendInvoice],
  keepDoneMs: 3 * DAY,
  keepFailedMs: 90 * DAY,
  keepCanceledMs: Infinity, // for ever
  onEvent: (event) => {
    if (event.type === "retention.pruned") console.log(`${event.tasks} tasks were old enough to go`);
  },
});
await scheduler.migrate();

const spec = sendInvoice.task({ orderId: "o-1" });
const first = await scheduler.enqueue(spec, { idempotencyKey: "invoice-o-1" });
const again = await scheduler.enqueue(spec, { idempotencyKey: "invoice-o-1" });
console.log(`one task: ${first.taskId === again.taskId}`);

const { runId } = await scheduler.enqueueMany(
  ["o-2", "o-3", "o-4"].map((orderId) => sendInvoice.task({ orderId })),
  { run: { title: "invoices of November", limit: 10 }, idempotencyKey: "invoices-2026-11" },
);
if (runId === null) throw new Error("It has no run");

await scheduler.start();
while ((await scheduler.list({ status: ["PENDING", "AVAILABLE", "RUNNING"] })).taskRuns.length > 0) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}

const failed = await scheduler.list({ runId, status: ["FAILED"] });
for (const { taskRunId, title } of failed.taskRuns) {
  const retried = await scheduler.retry(taskRunId, { by: "ana" });
  console.log(`${title}: attempt ${retried.attempt}`);
}

const counts = await scheduler.retryMany({
  kind: "send-invoice",
  status: ["FAILED", "CANCELED"],
  enqueuedSince: new Date(Date.now() - DAY),
});
console.log(`${counts.retried} more are tried again`);

const ofRun = await scheduler.cancelRun(runId, { by: "ana", reason: "wrong month" });
const ofKind = await scheduler.cancelMany({ kind: "send-invoice", status: ["PENDING"] });
console.log(`nothing is left: ${ofRun.notFound + ofKind.notFound === 0}`);

await scheduler.stop();
