/** Writes packages/contract/proto/task_run.proto anew from the one table of statuses. */
import { writeFileSync } from "node:fs";
import { renderTaskRunProto } from "../packages/contract/src/task-run-proto.ts";

writeFileSync(new URL("../packages/contract/proto/task_run.proto", import.meta.url), renderTaskRunProto());
