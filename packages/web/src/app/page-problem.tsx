import type { ErrorComponentProps } from "@tanstack/react-router";
import { ProblemNote } from "../shared/ui/answer.tsx";

/** A page that cannot be shown, most often since a new version has other files: the frame stays, and loading again helps. */
export function PageProblem({ error }: ErrorComponentProps) {
  const shown = error instanceof Error ? error : new Error(String(error));
  return <ProblemNote error={shown} onRetry={() => location.reload()} />;
}
