import type { ResourceDetail } from "@signalbox/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { usePageTitle } from "../../shared/ui/page-title.ts";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { PauseButton } from "../../shared/ui/pause-button.tsx";
import { BlockerLine } from "../task-run/gate-list.tsx";
import { countText } from "./count-text.ts";
import { RuleState } from "./rule-state.tsx";
import { WindowButton } from "./window-button.tsx";
import { WindowList } from "./window-list.tsx";

const route = getRouteApi("/resources/$name");

export function ResourcePage() {
  const words = useWords();
  const { name } = route.useParams();
  const query = useTopic<ResourceDetail>(`resources/${encodeURIComponent(name)}`);
  usePageTitle(safeText(name));
  return (
    <div className="grid min-w-0 gap-4">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="text-sm text-muted">
            <Link to="/resources" className="underline">
              {words("resources.title")}
            </Link>{" "}
            / {words("column.resource")}
          </p>
          <h1>{safeText(name)}</h1>
          {query.data !== undefined && (
            <div className="mt-1">
              <RuleState rules={query.data} />
            </div>
          )}
        </div>
        {query.data !== undefined && (
          <PauseButton name={safeText(name)} what={{ resource: name }} paused={query.data.paused !== null} />
        )}
      </div>
      <Answer query={query} lines={6}>
        {(resource) => <Loaded resource={resource} />}
      </Answer>
    </div>
  );
}

function Loaded({ resource }: { readonly resource: ResourceDetail }) {
  const words = useWords();
  const name = safeText(resource.resource);
  const windowsOf = { what: { resource: resource.resource }, name, windows: resource.windows };
  return (
    <>
      <Panel title={words("column.holders")} aside={resource.holderCount}>
        {resource.holders.length === 0 ? (
          <Empty>{words(resource.reservedFor === null ? "resources.free" : "resources.reserved")}</Empty>
        ) : (
          <ul className="grid gap-1 px-4 pb-3">
            {resource.holders.map((holder) => (
              <BlockerLine key={holder.taskRunId} blocker={holder} />
            ))}
          </ul>
        )}
      </Panel>
      <Panel title={words("resources.line")} aside={countText(resource.inLine, words.locale)}>
        {resource.line.length === 0 ? (
          <Empty>{words("resources.lineEmpty")}</Empty>
        ) : (
          <ol className="grid gap-1 px-4 pb-3">
            {resource.line.map((waiting) => (
              <li key={waiting.taskRunId} className="grid grid-cols-[2.5rem_minmax(0,1fr)]">
                <span className="font-semibold tabular-nums">{waiting.position}</span>
                <ul>
                  <BlockerLine blocker={waiting} />
                </ul>
              </li>
            ))}
          </ol>
        )}
      </Panel>
      <Panel title={words("window.title")} aside={<WindowButton {...windowsOf} window={null} />}>
        <WindowList {...windowsOf} />
      </Panel>
    </>
  );
}
