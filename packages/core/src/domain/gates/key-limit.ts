import { keyScope } from "../scope.ts";
import type { Gate } from "./gate.ts";

/** A key is always limited: to one, where nobody has said otherwise. */
export const keyLimit: Gate = ({ concurrencyKey }, view) => {
  if (concurrencyKey === null) return [];
  const { limit, active } = view.limit(keyScope(concurrencyKey));
  return active >= limit ? [{ code: "KEY_LIMIT", concurrencyKey, limit, active }] : [];
};
