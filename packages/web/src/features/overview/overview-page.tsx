import type { Overview, TaskRunPage } from "@signalbox/contract";
import { lazy } from "react";
import { useShortcuts } from "../../app/shortcuts.ts";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { BlockBoundary } from "../../shared/ui/block-boundary.tsx";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { ClusterHealth } from "./cluster-health.tsx";
import { NeedsAttention } from "./needs-attention.tsx";
import { RunningNow } from "./running-now.tsx";
import { Starters } from "./starters.tsx";
import { WaitingByCause } from "./waiting-by-cause.tsx";

const Charts = lazy(async () => ({ default: (await import("./charts.tsx")).Charts }));

/** What has ended of late, for the charts: a bounded look, never a count over everything. */
const ENDED = "task-runs?status=DONE,FAILED,CANCELED&limit=200";

export function OverviewPage() {
  const words = useWords();
  const overview = useTopic<Overview>("overview");
  const ended = useTopic<TaskRunPage>(ENDED);
  usePageTitle(words("nav.overview"));
  useShortcuts(Object.fromEntries(["1", "2", "3", "4", "5"].map((key) => [key, () => focusBlock(key)])));
  const isNew = overview.data !== undefined && isIdle(overview.data) && ended.data?.taskRuns.length === 0;
  return (
    <div className="grid gap-4">
      <h1>{words("nav.overview")}</h1>
      {isNew ? (
        <Starters />
      ) : (
        <>
          <div className="grid min-w-0 gap-4 lg:grid-cols-2">
            <div className="grid min-w-0 content-start gap-4">
              <NeedsAttention overview={overview.data} />
              <RunningNow />
            </div>
            <div className="grid min-w-0 content-start gap-4">
              <WaitingByCause query={overview} />
              <ClusterHealth query={overview} />
            </div>
          </div>
          <Answer query={ended} lines={6}>
            {({ taskRuns }) => (
              <BlockBoundary>
                <Charts taskRuns={taskRuns} />
              </BlockBoundary>
            )}
          </Answer>
        </>
      )}
    </div>
  );
}

function isIdle({ waiting, available, running }: Overview): boolean {
  return available + running === 0 && Object.values(waiting).every((count) => count === 0);
}

function focusBlock(key: string): void {
  document.querySelector<HTMLElement>(`[data-block="${key}"]`)?.focus();
}
