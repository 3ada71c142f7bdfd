/** Long backlogs: whether what waits slows what runs, and whether it can still say why it waits. Signalbox beside itself. */

import type { Scenario } from "../bench.ts";
import { measureBacklog } from "../measure-backlog.ts";
import { measureBeside } from "../measure-beside.ts";

export const backlog: Scenario = async (bench) => [
  ...(await measureBacklog(bench, "")),
  ...(await measureBeside(bench, "")),
];
