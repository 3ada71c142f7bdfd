import { queueScope, resourceScope, type WindowScope } from "../scope.ts";
import type { Candidate, Gate, GateView } from "./gate.ts";

export const window: Gate = (candidate, view) =>
  windowed(candidate).flatMap((scope) => {
    const state = view.window(scope);
    if (state.kind === "open") return [];
    return [{ code: "WINDOW" as const, scope, window: state.because, opensAt: state.opensAt }];
  });

/** Everything whose windows say when this one may start. */
export function windowed({ queue, resources }: Candidate): readonly WindowScope[] {
  return [queueScope(queue), ...resources.map(({ name }) => resourceScope(name))];
}

/** The first instant at which one of its windows may close; null: none does. The claim respects it. */
export function openUntil(candidate: Candidate, view: GateView): Date | null {
  let first: Date | null = null;
  for (const scope of windowed(candidate)) {
    const state = view.window(scope);
    if (state.kind !== "open" || state.until === null) continue;
    if (first === null || state.until.getTime() < first.getTime()) first = state.until;
  }
  return first;
}
