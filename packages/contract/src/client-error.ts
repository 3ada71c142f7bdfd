import type { Problem } from "./problem.ts";

/** The server answered, and the answer is no. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** There is no answer, or none of Signalbox. Whether the request had an effect is not known. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  readonly baseUrl: string;
  /** Somebody may be there and be too busy. */
  readonly timedOut: boolean;

  constructor(baseUrl: string, why: string, options?: ErrorOptions) {
    super(`${baseUrl}: ${why}`, options);
    this.baseUrl = baseUrl;
    this.timedOut = options?.cause instanceof Error && options.cause.name === "TimeoutError";
  }
}
