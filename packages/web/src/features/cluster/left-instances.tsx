import type { InstanceView } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText, shortId } from "../../shared/safe-text.ts";
import { Relative } from "../../shared/time/instant.tsx";
import { Panel } from "../../shared/ui/panel.tsx";
import { InstanceState } from "./instance-state.tsx";

interface LeftInstancesProps {
  readonly instances: readonly InstanceView[];
  readonly readAt: string;
}

/** A line each: they hold nothing, and nothing is to be done about them. */
export function LeftInstances({ instances, readAt }: LeftInstancesProps) {
  const words = useWords();
  const left = instances.flatMap((instance) =>
    instance.leftAt === null ? [] : [{ instance, leftAt: instance.leftAt }],
  );
  if (left.length === 0) return null;
  return (
    <Panel title={words("cluster.leftOfLate")}>
      <ul>
        {left
          .toSorted((one, other) => other.leftAt.localeCompare(one.leftAt))
          .map(({ instance, leftAt }) => (
            <li
              key={instance.instanceId}
              data-instance={instance.name}
              className="flex flex-wrap items-baseline gap-x-3 border-t border-line px-4 py-2"
            >
              <InstanceState instance={instance} readAt={readAt} />
              <span className="min-w-0 flex-1 basis-32 font-medium wrap-anywhere">
                {safeText(instance.name)}
              </span>
              <span className="text-sm text-muted">
                <Relative at={leftAt} /> ·{" "}
                <span className="font-mono text-xs" title={instance.instanceId}>
                  {shortId(instance.instanceId)}
                </span>
              </span>
            </li>
          ))}
      </ul>
    </Panel>
  );
}
