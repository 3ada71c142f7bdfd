import type { Count, QueueView } from "@signalbox/contract";
import { factLines } from "./fact-lines.ts";
import type { Column } from "./table.ts";
import { safeText } from "./task-name.ts";
import type { Moment } from "./waiting-cause.ts";
import { standingText, windowText } from "./window-text.ts";

/** "9,412", or "10,000+" where counting stopped there. */
export function countText({ count, atLeast }: Count): string {
  return `${count.toLocaleString("en")}${atLeast ? "+" : ""}`;
}

export function queueColumns(moment: Moment): readonly Column<QueueView>[] {
  return [
    { name: "queue", text: ({ queue }) => safeText(queue) },
    { name: "waiting", text: ({ waiting }) => countText(waiting) },
    { name: "available", text: ({ available }) => countText(available) },
    { name: "running", text: ({ running }) => countText(running) },
    { name: "limit", text: limitText },
    { name: "weight", text: ({ weight }) => String(weight) },
    { name: "about", text: (queue) => standingText(queue, moment) },
    {
      name: "windows",
      wide: true,
      text: ({ windows }) => windows.map((each) => windowText(each, moment)).join("; "),
    },
  ];
}

export function queueLines(queue: QueueView, moment: Moment): readonly string[] {
  const { look } = moment;
  return [
    look.colors.bold(safeText(queue.queue)),
    ...factLines(
      [
        ["waiting", countText(queue.waiting)],
        ["available", countText(queue.available)],
        ["running", countText(queue.running)],
        ["limit", limitText(queue)],
        ["weight", String(queue.weight)],
        ["now", standingText(queue, moment) || "open"],
        ...queue.windows.map((window) => ["window", windowText(window, moment)] as const),
      ],
      look,
    ),
  ];
}

function limitText({ limit }: QueueView): string {
  return limit === 0 ? "none" : String(limit);
}
