/** What the last arguments of the calls look like; those of specs, rules and filters are with their domain. */

import type { AttemptFilter } from "../domain/attempts.ts";
import type { LogSearchOptions } from "../domain/log-search.ts";
import { abortSignal, having, instant, number, objectOf, type Shape, text } from "../domain/shape.ts";
import type {
  EnqueueManyOptions,
  EnqueueOptions,
  FollowLogOptions,
  OverviewOptions,
  ReadLogOptions,
  ReadRulesOptions,
} from "./scheduler-face.ts";

const transaction = having("query", "function", "a pg client on which you sent BEGIN");

export const ENQUEUE_OPTIONS: Shape = objectOf<EnqueueOptions>({ transaction, idempotencyKey: text });
export const ENQUEUE_MANY_OPTIONS: Shape = objectOf<EnqueueManyOptions>({
  transaction,
  idempotencyKey: text,
  run: objectOf<NonNullable<EnqueueManyOptions["run"]>>({ title: text, limit: number }, ["title"]),
});
export const READ_LOG_OPTIONS: Shape = objectOf<ReadLogOptions>({ from: number, limit: number });
export const SEARCH_LOG_OPTIONS: Shape = objectOf<LogSearchOptions>(
  { search: text, from: number, limit: number },
  ["search"],
);
export const ATTEMPT_OPTIONS: Shape = objectOf<AttemptFilter>({ limit: number, before: number });
export const READ_RULES_OPTIONS: Shape = objectOf<ReadRulesOptions>({ limit: number });
export const OVERVIEW_OPTIONS: Shape = objectOf<OverviewOptions>({ countUpTo: number });
export const FOLLOW_LOG_OPTIONS: Shape = objectOf<FollowLogOptions>({ from: number, signal: abortSignal });
export const CHECK_OPTIONS: Shape = objectOf<{ readonly since?: Date }>({ since: instant });
