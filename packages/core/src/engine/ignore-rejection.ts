/**
 * For what a function of the caller's answers where no promise is waited for. The types allow an async one, and nobody
 * would hear of its rejection but the process, which ends of it.
 */
export function ignoreRejection(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => {});
}
