import type { Overview } from "@signalbox/contract";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Answer } from "../../shared/ui/answer.tsx";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { BeatBar } from "../cluster/beat-bar.tsx";
import { InstanceState } from "../cluster/instance-state.tsx";
import { presentInstances } from "../cluster/present-instances.ts";

export function ClusterHealth({ query }: { readonly query: UseQueryResult<Overview, Error> }) {
  const words = useWords();
  return (
    <Panel
      title={words("overview.cluster")}
      block={4}
      aside={<Link to="/cluster">{words("nav.cluster")}</Link>}
    >
      <Answer query={query}>
        {({ instances, computedAt }) =>
          instances.length === 0 ? (
            <Empty>{words("cluster.none")}</Empty>
          ) : (
            <ul>
              {presentInstances(instances).map((instance) => (
                <li
                  key={instance.instanceId}
                  className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 border-t border-line px-4 py-2 sm:grid-cols-[minmax(0,1fr)_6rem_7rem_5rem]"
                >
                  <span className="font-medium wrap-anywhere">{safeText(instance.name)}</span>
                  <InstanceState instance={instance} readAt={computedAt} />
                  <BeatBar instance={instance} />
                  <span className="text-end text-sm text-muted tabular-nums" title={words("column.slots")}>
                    {instance.running} / {instance.slots}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Panel>
  );
}
