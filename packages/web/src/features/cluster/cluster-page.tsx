import type { InstanceList, TaskRunPage } from "@signalbox/contract";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { TaskRunEnded, TaskRunLink, TaskRunStatus } from "../task-runs/task-run-cells.tsx";
import { InstanceCard } from "./instance-card.tsx";
import { LeftInstances } from "./left-instances.tsx";
import { presentInstances } from "./present-instances.ts";
import { rescuedOf } from "./rescued-of.ts";

/** How what a dead instance left behind was settled. By the outcome: what has ended since must not push it out of sight. */
const LOST = "task-runs?status=FAILED&outcome=LEASE_LOST,TOO_MANY_INTERRUPTIONS,SHUTDOWN&limit=20";
/** Where the attempts that followed are looked for. */
const ENDED = "task-runs?status=DONE,FAILED,CANCELED&limit=200";

export function ClusterPage() {
  const words = useWords();
  const query = useTopic<InstanceList>("instances");
  usePageTitle(words("nav.cluster"));
  return (
    <div className="grid gap-4">
      <h1>{words("nav.cluster")}</h1>
      <Answer query={query} lines={6}>
        {({ instances, computedAt }) =>
          instances.length === 0 ? (
            <p className="panel p-6 text-muted">{words("cluster.none")}</p>
          ) : (
            <ul className="grid min-w-0 gap-4 xl:grid-cols-2">
              {presentInstances(instances).map((instance) => (
                <li key={instance.instanceId} className="min-w-0">
                  <InstanceCard instance={instance} readAt={computedAt} />
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      <Rescued />
      {query.data !== undefined && (
        <LeftInstances instances={query.data.instances} readAt={query.data.computedAt} />
      )}
    </div>
  );
}

function Rescued() {
  const words = useWords();
  const query = useTopic<TaskRunPage>(LOST);
  const ended = useTopic<TaskRunPage>(ENDED);
  return (
    <Panel title={words("cluster.rescued")}>
      <Answer query={query}>
        {({ taskRuns }) => {
          const rescued = rescuedOf(taskRuns, ended.data?.taskRuns ?? []);
          if (rescued.length === 0) return <Empty>{words("cluster.nothingRescued")}</Empty>;
          return (
            <ul>
              {rescued.map(({ lost, next }) => (
                <li
                  key={lost.taskRunId}
                  className="flex flex-wrap items-center gap-x-3 border-t border-line px-4 py-2"
                >
                  <TaskRunStatus taskRun={lost} />
                  <span className="min-w-0 flex-1 basis-48">
                    <TaskRunLink taskRun={lost} />
                  </span>
                  <span className="text-sm text-muted">
                    <span className="font-mono">{lost.outcome}</span> · <TaskRunEnded taskRun={lost} />
                    {next !== null && (
                      <>
                        {" "}
                        ·{" "}
                        {words("cluster.nextAttempt", {
                          attempt: next.attempt,
                          instance: next.instanceName ?? "–",
                        })}
                      </>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Answer>
    </Panel>
  );
}
