/** How fresh the page is, in a word and a shape. Pressing it pauses and resumes. */

import { type Freshness, freshnessOf, type LiveState, useLiveState } from "../live/live-state.ts";
import { useLiveData } from "../live/use-topic.ts";
import { useWords, type Words } from "../shared/i18n/use-words.ts";
import { clockOffsetMs } from "../shared/time/clock.ts";
import { useInstantFormat } from "../shared/time/instant.tsx";

const SHAPE: Readonly<Record<Freshness, { readonly path: string; readonly tone: string }>> = {
  live: { path: "M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3", tone: "text-done" },
  paused: { path: "M4.5 3h2.5v10H4.5zM9 3h2.5v10H9z", tone: "text-muted" },
  polling: { path: "M8 2l6 11H2z", tone: "text-pending" },
  offline: { path: "M3 3h10v10H3z", tone: "text-failed" },
};

export function LivePill() {
  const words = useWords();
  const live = useLiveData();
  const state = useLiveState();
  const format = useInstantFormat();
  const freshness = freshnessOf(state);
  const since =
    state.unreachableSince === null ? "" : format(new Date(state.unreachableSince).toISOString(), Date.now());
  const word = words(`live.${freshness}`, { time: since });
  const { path, tone } = SHAPE[freshness];
  return (
    <button
      type="button"
      className="chip min-h-8 font-medium"
      aria-label={`${word}. ${words(state.paused ? "live.resume" : "live.pause")}`}
      title={detailsOf(state, words, format)}
      data-freshness={freshness}
      onClick={() => live.setPaused(!state.paused)}
    >
      <svg aria-hidden="true" width="12" height="12" viewBox="0 0 16 16" className={tone} fill="currentColor">
        <path d={path} />
      </svg>
      {word}
    </button>
  );
}

function detailsOf(state: LiveState, words: Words, format: (at: string, now: number) => string): string {
  const last = state.answeredAt === null ? "–" : format(new Date(state.answeredAt).toISOString(), Date.now());
  return [
    words("live.lastEvent", { time: last }),
    ...(state.serverId === null ? [] : [words("live.servedBy", { server: state.serverId })]),
    words("live.offset", { ms: Math.round(clockOffsetMs()) }),
  ].join("\n");
}
