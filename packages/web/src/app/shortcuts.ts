/** Single keys, for those who want them. Never while something is typed; preferences switch them off. */

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useLiveState } from "../live/live-state.ts";
import { useLiveData } from "../live/use-topic.ts";
import { readPreferences } from "../shared/preferences.ts";

const PLACES: Readonly<Record<string, "/" | "/tasks" | "/resources" | "/cluster">> = {
  o: "/",
  t: "/tasks",
  q: "/resources",
  c: "/cluster",
};
const SECOND_KEY_WITHIN_MS = 1_500;

export type KeyActions = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Keys of a page, besides those that work everywhere. */
export function useShortcuts(actions: KeyActions): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const action = latest.current[event.key];
      if (action !== undefined && isShortcut(event)) action(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

export function useGlobalShortcuts(showHelp: () => void): void {
  const navigate = useNavigate();
  const live = useLiveData();
  const { paused } = useLiveState();
  const goSince = useRef(0);
  const go = (event: KeyboardEvent): boolean => {
    const to = PLACES[event.key];
    if (to === undefined || Date.now() - goSince.current > SECOND_KEY_WITHIN_MS) return false;
    goSince.current = 0;
    void navigate({ to });
    return true;
  };
  useShortcuts({
    "?": showHelp,
    g: () => {
      goSince.current = Date.now();
    },
    ...Object.fromEntries(Object.keys(PLACES).map((key) => [key, go])),
    p: () => live.setPaused(!paused),
    "/": (event) => {
      const field = document.querySelector<HTMLElement>("[data-filter]");
      if (field === null) return;
      event.preventDefault();
      field.focus();
    },
  });
}

function isShortcut(event: KeyboardEvent): boolean {
  if (!readPreferences().shortcuts || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return false;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return true;
  return (
    !target.isContentEditable &&
    !target.matches("input, textarea, select") &&
    target.closest("dialog") === null
  );
}
