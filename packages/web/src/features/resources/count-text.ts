import type { QueueView } from "@signalbox/contract";

/** "9,412", or "10,000+" where counting stopped. */
export function countText({ count, atLeast }: QueueView["waiting"], locale: string): string {
  return `${new Intl.NumberFormat(locale).format(count)}${atLeast ? "+" : ""}`;
}
