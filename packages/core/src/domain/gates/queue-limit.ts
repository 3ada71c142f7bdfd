import { queueScope } from "../scope.ts";
import type { Gate } from "./gate.ts";

export const queueLimit: Gate = ({ queue }, view) => {
  const { limit, active } = view.limit(queueScope(queue));
  return limit > 0 && active >= limit ? [{ code: "QUEUE_LIMIT", queue, limit, active }] : [];
};
