import { queueScope, resourceScope, type WindowScope } from "../scope.ts";
import { type Candidate, type Gate, type GateView, type Ruled, ruledOf } from "./gate.ts";

export const window: Gate = (candidate, view) => {
  if (!view.hasWindows) return [];
  return windowed(ruledOf(candidate)).flatMap((scope) => {
    const state = view.window(scope);
    if (state.kind === "open") return [];
    return [{ code: "WINDOW" as const, scope, window: state.because, opensAt: state.opensAt }];
  });
};

/** Everything whose windows say when these may start. */
export function windowed({ queues, resources }: Ruled): readonly WindowScope[] {
  return [...Array.from(queues, queueScope), ...Array.from(resources, resourceScope)];
}

/** The first instant at which one of its windows may close; null: none does. The claim respects it. */
export function openUntil(candidate: Candidate, view: GateView): Date | null {
  let first: Date | null = null;
  if (!view.hasWindows) return first;
  for (const scope of windowed(ruledOf(candidate))) {
    const state = view.window(scope);
    if (state.kind !== "open" || state.until === null) continue;
    if (first === null || state.until.getTime() < first.getTime()) first = state.until;
  }
  return first;
}
