import type { Scheduler } from "@signalbox/core";
import { EXIT, type ExitCode } from "../cli/exit-code.ts";
import type { Output } from "../cli/output.ts";
import { demoTable, notDone } from "../demo/demo-table.ts";
import type { EndedDemo } from "../demo/run-once.ts";
import { lengthText } from "../render/time.ts";

/** Says what became of the demo, and whether any promise was broken on the way. */
export async function showDemo(
  scheduler: Scheduler,
  { tasks, tookMs }: EndedDemo,
  output: Output,
): Promise<ExitCode> {
  const { violations, notChecked } = await scheduler.checkInvariants();
  output.data("");
  for (const line of demoTable(tasks, output.look)) output.data(line);
  output.data("");

  for (const { property, detail } of violations) output.note(`Broken: ${property}: ${detail}`);
  for (const reason of notChecked) output.note(`Not checked: ${reason}`);
  const unfinished = notDone(tasks).length;
  const broken = violations.length === 0 ? "no promise broken" : `promises broken: ${violations.length}`;
  output.data(
    `${tasks.length - unfinished} of ${tasks.length} tasks done in ${lengthText(tookMs)}, ${broken}.`,
  );
  return unfinished === 0 && violations.length === 0 ? EXIT.ok : EXIT.failed;
}
