/**
 * Stands for an instance in a process of its own: `warden-host.ts <leaseMs> [<perl>]` starts one process with a child, says both
 * pids, and stays. Nobody beats.
 */

import { monotonicMs } from "../src/executors/monotonic.ts";
import { createProcesses } from "../src/executors/process/processes.ts";

const host = createProcesses(undefined, process.argv[3]).of({
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
