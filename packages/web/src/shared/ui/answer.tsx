/** The states of every view: loading, refused, stale, there. */

import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../../api/request.ts";
import { useWords } from "../i18n/use-words.ts";
import { Icon } from "./icon.tsx";

const SKELETON_AFTER_MS = 150;

interface AnswerProps<Body> {
  readonly query: UseQueryResult<Body, Error>;
  readonly children: (body: Body) => ReactNode;
  /** How many lines the placeholder has. */
  readonly lines?: number;
}

/** Once there is something to show it stays, whatever fails later: the banner tells its age. */
export function Answer<Body>({ query, children, lines = 3 }: AnswerProps<Body>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <ProblemNote error={query.error} onRetry={() => void query.refetch()} />;
  return <Skeleton lines={lines} />;
}

export function ProblemNote({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const words = useWords();
  return (
    <div
      role="alert"
      className="m-3 flex flex-wrap items-center gap-3 rounded-lg bg-danger-page px-4 py-3 text-danger-text"
    >
      <Icon name="warning" />
      <span className="min-w-0 flex-1 wrap-anywhere">{problemText(error, words("problem.unreachable"))}</span>
      {onRetry !== undefined && (
        <button type="button" className="btn" onClick={onRetry}>
          {words("action.tryAgain")}
        </button>
      )}
    </div>
  );
}

export function problemText(error: Error, unreachable: string): string {
  if (!(error instanceof ApiError)) return error.message;
  return error.problem === null ? unreachable : error.problem.detail;
}

export function isNotFound(error: Error | null): boolean {
  return error instanceof ApiError && (error.problem?.status === 404 || error.problem?.status === 400);
}

function Skeleton({ lines }: { readonly lines: number }) {
  const words = useWords();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="grid gap-3 p-4" role="status">
      <span className="sr-only">{words("state.loading")}</span>
      {Array.from({ length: lines }, (_, index) => (
        <div
          key={index}
          className={`h-4 rounded bg-raised ${shown ? "" : "invisible"} ${index % 3 === 2 ? "w-1/2" : ""}`}
        />
      ))}
    </div>
  );
}
