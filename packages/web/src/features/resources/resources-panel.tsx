import type { ResourcePage, ResourceView } from "@signalbox/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTopic } from "../../live/use-topic.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Clamped } from "../../shared/ui/clamped.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { PauseButton } from "../../shared/ui/pause-button.tsx";
import { BlockerLine } from "../task-run/gate-list.tsx";
import { countText } from "./count-text.ts";
import { RuleState } from "./rule-state.tsx";

const route = getRouteApi("/resources");

export function ResourcesPanel() {
  const words = useWords();
  const { search } = route.useSearch();
  const query = useTopic<ResourcePage>(
    `resources?limit=100${search === undefined ? "" : `&search=${encodeURIComponent(search)}`}`,
  );
  return (
    <Panel title={words("resources.resources")} aside={<Search key={search ?? ""} search={search ?? ""} />}>
      <Answer query={query}>
        {({ resources, next }) =>
          resources.length === 0 ? (
            <Empty>{words(search === undefined ? "resources.empty" : "resources.noMatch")}</Empty>
          ) : (
            <>
              <Table resources={resources} />
              {next !== null && <p className="px-4 py-2 text-sm text-muted">{words("state.cut")}</p>}
            </>
          )
        }
      </Answer>
    </Panel>
  );
}

function Search({ search }: { readonly search: string }) {
  const words = useWords();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void navigate({ search: text.trim() === "" ? {} : { search: text.trim() } });
      }}
    >
      <input
        type="search"
        className="field w-48 max-w-full"
        data-filter
        aria-label={words("resources.search")}
        placeholder={words("resources.search")}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  );
}

function Table({ resources }: { readonly resources: readonly ResourceView[] }) {
  const words = useWords();
  return (
    <table className="data-table" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">{words("column.resource")}</th>
          <th role="columnheader">{words("column.state")}</th>
          <th role="columnheader">{words("column.holders")}</th>
          <th role="columnheader">{words("column.inLine")}</th>
          <th role="columnheader">
            <span className="sr-only">{words("column.actions")}</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {resources.map((resource) => (
          <Row key={resource.resource} resource={resource} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ resource }: { readonly resource: ResourceView }) {
  const words = useWords();
  const name = safeText(resource.resource);
  return (
    <tr role="row" data-resource={resource.resource}>
      <td role="cell" className="md:min-w-32">
        <Link to="/resources/$name" params={{ name: resource.resource }} className="font-medium">
          <Clamped text={name} />
        </Link>
      </td>
      <td role="cell" data-label={words("column.state")}>
        <RuleState rules={resource} />
      </td>
      <td role="cell" data-label={words("column.holders")}>
        {resource.holders.length === 0 ? (
          <span className="text-muted">
            {words(resource.reservedFor === null ? "resources.free" : "resources.reserved")}
          </span>
        ) : (
          <ul>
            {resource.holders.slice(0, 3).map((holder) => (
              <BlockerLine key={holder.taskRunId} blocker={holder} />
            ))}
            {resource.holderCount > 3 && <li className="text-sm text-muted">+{resource.holderCount - 3}</li>}
          </ul>
        )}
      </td>
      <td role="cell" data-label={words("column.inLine")} className="tabular-nums">
        {countText(resource.inLine, words.locale)}
      </td>
      <td role="cell" className="md:w-px">
        <PauseButton name={name} what={{ resource: resource.resource }} paused={resource.paused !== null} />
      </td>
    </tr>
  );
}
