import type { QueueList, QueueView } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Clamped } from "../../shared/ui/clamped.tsx";
import { LimitButton } from "../../shared/ui/limit-button.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { PauseButton } from "../../shared/ui/pause-button.tsx";
import { countText } from "./count-text.ts";
import { RuleState } from "./rule-state.tsx";
import { WindowButton } from "./window-button.tsx";

export function QueuesPanel() {
  const words = useWords();
  const query = useTopic<QueueList>("queues");
  return (
    <Panel title={words("queues.title")}>
      <Answer query={query}>
        {({ queues, cut }) =>
          queues.length === 0 ? (
            <Empty>{words("queues.empty")}</Empty>
          ) : (
            <>
              {/* Its buttons do not fit beside all the numbers everywhere. */}
              <div className="relative overflow-x-auto">
                <Table queues={queues} />
              </div>
              {cut && <p className="px-4 py-2 text-sm text-muted">{words("state.cut")}</p>}
            </>
          )
        }
      </Answer>
    </Panel>
  );
}

function Table({ queues }: { readonly queues: readonly QueueView[] }) {
  const words = useWords();
  return (
    <table className="data-table" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">{words("column.queue")}</th>
          <th role="columnheader">{words("column.state")}</th>
          <th role="columnheader">{words("column.limit")}</th>
          <th role="columnheader">{words("column.weight")}</th>
          <th role="columnheader">{words("status.PENDING")}</th>
          <th role="columnheader">{words("status.AVAILABLE")}</th>
          <th role="columnheader">{words("status.RUNNING")}</th>
          <th role="columnheader">
            <span className="sr-only">{words("column.actions")}</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {queues.map((queue) => (
          <Row key={queue.queue} queue={queue} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ queue }: { readonly queue: QueueView }) {
  const words = useWords();
  const name = safeText(queue.queue);
  return (
    <tr role="row" data-queue={queue.queue}>
      <td role="cell" className="md:min-w-32">
        <Link to="/tasks" search={{ queue: queue.queue }} className="font-medium">
          <Clamped text={name} />
        </Link>
      </td>
      <td role="cell" data-label={words("column.state")}>
        <RuleState rules={queue} />
      </td>
      <td role="cell" data-label={words("column.limit")} className="tabular-nums">
        {queue.limit === 0 ? words("limit.none") : queue.limit}
      </td>
      <td role="cell" data-label={words("column.weight")} className="tabular-nums">
        {queue.weight}
      </td>
      <td role="cell" data-label={words("status.PENDING")} className="tabular-nums">
        {countText(queue.waiting, words.locale)}
      </td>
      <td role="cell" data-label={words("status.AVAILABLE")} className="tabular-nums">
        {countText(queue.available, words.locale)}
      </td>
      <td role="cell" data-label={words("status.RUNNING")} className="tabular-nums">
        {countText(queue.running, words.locale)}
      </td>
      <td role="cell" className="md:w-px">
        <span className="flex gap-2 max-md:flex-wrap md:justify-end max-md:pt-1.5">
          <LimitButton name={name} limit={queue.limit} path={`queues/${encodeURIComponent(queue.queue)}`} />
          <WindowButton name={name} what={{ queue: queue.queue }} windows={queue.windows} window={null} />
          <PauseButton name={name} what={{ queue: queue.queue }} paused={queue.paused !== null} />
        </span>
      </td>
    </tr>
  );
}
