import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";

/** A connection whose other side is gone never says goodbye; nobody waits for that any longer. */
export const CLOSE_PATIENCE_MS = 1_000;

export async function endClient(client: pg.Client): Promise<void> {
  await Promise.race([client.end().catch(() => {}), wait(CLOSE_PATIENCE_MS, undefined, { ref: false })]);
  destroy(client);
}

export function destroy(client: pg.ClientBase): void {
  (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy();
}
