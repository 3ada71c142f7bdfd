import type { TaskRun } from "@signalbox/contract";
import { type RefObject, useEffect, useRef, useState } from "react";
import { type HeldRows, holdRows } from "./hold-rows.ts";

const SCROLLED_PX = 60;

/** What to show of the incoming rows, and how to let in those that wait. */
export function useHeldRows(
  incoming: readonly TaskRun[],
  place: RefObject<HTMLElement | null>,
): readonly [HeldRows<TaskRun>, () => void] {
  const shown = useRef<readonly TaskRun[]>([]);
  const [engaged, setEngaged] = useState(false);
  const [released, setReleased] = useState(0);
  useEffect(() => {
    const look = (): void => {
      const focused = place.current?.contains(document.activeElement) ?? false;
      setEngaged(scrollY > SCROLLED_PX || focused);
    };
    const events = ["scroll", "focusin", "focusout"] as const;
    for (const event of events) document.addEventListener(event, look, { passive: true });
    return () => {
      for (const event of events) document.removeEventListener(event, look);
    };
  }, [place]);
  const letIn = useRef(released);
  const held = holdRows(shown.current, incoming, engaged && letIn.current === released);
  useEffect(() => {
    shown.current = held.shown;
    letIn.current = released;
  });
  const release = (): void => {
    scrollTo({ top: 0 });
    setReleased((times) => times + 1);
  };
  return [held, release];
}
