import { DeferError, defineTask, NonRetryableError, RetryLaterError } from "@signalbox/core";

/** Sends an order to a shop that is sometimes busy, sometimes closed, and sometimes does not want it. */
export const sendOrder = defineTask<{ url: string; orderId: string }>({
  kind: "send-order",
  run: async ({ url, orderId }, { signal, progress }) => {
    const answer = await fetch(`${url}/orders/${orderId}`, { method: "PUT", signal });
    progress(); // the shop has answered: the timeout of missing progress begins anew
    if (answer.status === 423) throw new DeferError(60_000, "the shop is closed"); // spends no attempt
    if (answer.status === 429) throw new RetryLaterError(5_000, "the shop is busy"); // not before then
    if (answer.status === 404) throw new NonRetryableError(`the shop does not know ${orderId}`);
    if (!answer.ok) throw new Error(`the shop answered ${answer.status}`); // as retryOn says
    return await answer.json();
  },
  retryOn: (_error, attempt) => (attempt < 3 ? { afterMs: 1_000 } : "retry"),
});

export const order = (url: string, orderId: string) =>
  sendOrder.task(
    { url, orderId },
    {
      retry: { attempts: 5, backoff: { firstMs: 1_000, factor: 2, maxMs: 60_000 } },
      timeouts: { queuedMs: 3_600_000, runningMs: 30_000, progressMs: 10_000 },
    },
  );
