/**
 * What the main loop and the lease's thread share without sending messages. A message waits until the main
 * loop is free again, and a loop that was busy for longer than its lease would believe that it had lost it.
 */

export interface LeaseMemory {
  /** The main loop says that it lives. */
  readonly tick: () => void;
  readonly ticks: () => number;
  /** Monotonic time before the last good renewal was sent. */
  readonly renewed: (sentAtMs: number) => void;
  readonly renewedAtMs: () => number;
}

const TICKS = 0;
const RENEWED_AT_US = 1;

export function newLeaseBuffer(begunAtMs: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
  openLeaseMemory(buffer).renewed(begunAtMs);
  return buffer;
}

export function openLeaseMemory(buffer: SharedArrayBuffer): LeaseMemory {
  const cells = new BigInt64Array(buffer);
  return {
    tick: () => void Atomics.add(cells, TICKS, 1n),
    ticks: () => Number(Atomics.load(cells, TICKS)),
    renewed: (sentAtMs) => void Atomics.store(cells, RENEWED_AT_US, BigInt(Math.floor(sentAtMs * 1000))),
    renewedAtMs: () => Number(Atomics.load(cells, RENEWED_AT_US)) / 1000,
  };
}
