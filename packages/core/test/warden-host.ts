/**
 * Stands for an instance in a process of its own: starts one process with a child under a lease of so many ms, says both
 * pids, and stays. Nobody beats.
 */

import { monotonicMs } from "../src/executors/monotonic.ts";
import { createProcesses } from "../src/executors/process/processes.ts";

const host = createProcesses().of({
  lease: {
    life: "one",
    leaseMs: Number(process.argv[2]),
    // Asked once, when the process is started.
    renewedAtMs: monotonicMs,
    reportTo: () => {},
  },
  deadline: null,
  onEnded: () => {},
  tell: () => {},
});
await host.start({
  argv: ["sh", "-c", "sleep 300 & echo $$ $!; wait"],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  graceMs: 100,
  onOutput: (_, bytes) => process.stdout.write(bytes),
});
setInterval(() => {}, 60_000);
