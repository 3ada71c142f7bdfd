/** What is wrong as a whole, on whichever page one is. */

import type { Overview } from "@signalbox/contract";
import { useLiveState } from "../live/live-state.ts";
import { useTopic } from "../live/use-topic.ts";
import { useWords, type Words } from "../shared/i18n/use-words.ts";
import { useInstantFormat } from "../shared/time/instant.tsx";
import { Icon } from "../shared/ui/icon.tsx";

export function Banner() {
  const text = useTrouble();
  return (
    <div role="alert" aria-live="assertive">
      {text !== null && (
        <p className="flex items-start gap-2.5 border-b border-line bg-warn-page px-4 py-2.5 font-medium text-warn-text">
          <span className="mt-1">
            <Icon name="warning" />
          </span>
          <span className="min-w-0 wrap-anywhere">{text}</span>
        </p>
      )}
    </div>
  );
}

function useTrouble(): string | null {
  const words: Words = useWords();
  const state = useLiveState();
  const format = useInstantFormat();
  const overview = useTopic<Overview>("overview");
  const age = state.answeredAt === null ? null : format(new Date(state.answeredAt).toISOString(), Date.now());
  if (state.stream !== "live" && state.unreachableSince !== null) {
    return age === null ? words("problem.unreachable") : words("banner.offline", { time: age });
  }
  if (state.trouble !== null)
    return words("banner.trouble", { detail: state.trouble.detail, time: age ?? "–" });
  const instances = overview.data?.instances;
  if (instances !== undefined && !instances.some(({ state: now }) => now === "LIVE"))
    return words("banner.noInstance");
  return null;
}
