import { env } from "node:process";
import { createScheduler, defineProcess } from "@signalbox/core";

const program = defineProcess({ allowShell: true });
const scheduler = createScheduler({
  databaseUrl: env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres",
  tasks: [program],
});
await scheduler.migrate();
await scheduler.start();

const { taskRunId } = await scheduler.enqueue(
  program.task({
    shell: `
      echo "counting the words of $(cat "$SIGNALBOX_INPUT_FILE")"
      echo "{\\"words\\": $(wc -w < "$SIGNALBOX_INPUT_FILE")}" > "$SIGNALBOX_OUTPUT_FILE"`,
    input: "all the king's horses",
  }),
);
for await (const { stream, text } of scheduler.followLog(taskRunId)) console.log(`${stream}: ${text.trim()}`);
const { status, output } = await scheduler.get(taskRunId);
console.log(status, JSON.stringify(output)); // DONE {"words":4}
await scheduler.stop();
