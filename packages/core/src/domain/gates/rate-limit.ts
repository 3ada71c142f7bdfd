import type { Gate } from "./gate.ts";

/** Counts starts, not promotions: a slot is free again one period after whoever took it was claimed. */
export const rateLimit: Gate = ({ rate }, view) => {
  if (rate === null) return [];
  const { amount, perMs, free, nextFreeAt } = view.rate(rate);
  return free > 0 ? [] : [{ code: "RATE_LIMIT", rate, amount, perMs, freeAt: nextFreeAt }];
};
