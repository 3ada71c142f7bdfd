import type { AttemptPage, TaskRunDetail } from "@signalbox/contract";
import { useTopic } from "../../live/use-topic.ts";

const SHOWN = 20;

/** All task runs of the task, the newest first. */
export function useAttempts({
  taskId,
}: Pick<TaskRunDetail, "taskId">): ReturnType<typeof useTopic<AttemptPage>> {
  return useTopic<AttemptPage>(`task-runs/${taskId}/attempts?limit=${SHOWN}`);
}
