/** What can be watched: a topic is the path and query of a route that answers GET, without `/api/v1/`. Pure. */

import { RequestError } from "../problem.ts";

const MOST_TOPICS = 20;
const LONGEST_TOPIC = 1_000;

/** How often a topic is read while somebody watches it. */
const OFTEN_MS = 250;
/** What counts, or goes through many rows. */
const SELDOM_MS = 1_000;

/** Where an answer has its rows, and a row its id. */
export interface RowsOf {
  readonly member: string;
  readonly id: string;
}

interface Watchable {
  readonly path: RegExp;
  readonly everyMs: number;
  /** Where each row has a version of its own. */
  readonly rows?: RowsOf;
}

const ID = "[^/?]+";
const WATCHABLE: readonly Watchable[] = [
  { path: /^task-runs(?:\?|$)/, everyMs: OFTEN_MS, rows: { member: "taskRuns", id: "taskRunId" } },
  { path: new RegExp(`^task-runs/${ID}$`), everyMs: OFTEN_MS },
  { path: new RegExp(`^task-runs/${ID}/explanation$`), everyMs: SELDOM_MS },
  { path: new RegExp(`^task-runs/${ID}/attempts(?:\\?|$)`), everyMs: SELDOM_MS },
  { path: /^operations(?:\?|$)/, everyMs: SELDOM_MS, rows: { member: "operations", id: "operationId" } },
  { path: new RegExp(`^operations/${ID}$`), everyMs: OFTEN_MS },
  { path: new RegExp(`^operations/${ID}/items(?:\\?|$)`), everyMs: SELDOM_MS },
  { path: /^runs(?:\?|$)/, everyMs: OFTEN_MS, rows: { member: "runs", id: "runId" } },
  { path: new RegExp(`^runs/${ID}$`), everyMs: SELDOM_MS },
  { path: /^(?:overview|rules|queues|instances)$/, everyMs: SELDOM_MS },
  { path: new RegExp(`^instances/${ID}$`), everyMs: SELDOM_MS },
  { path: /^resources(?:\?|$)/, everyMs: SELDOM_MS },
  { path: new RegExp(`^resources/${ID}$`), everyMs: SELDOM_MS },
];

/** Dots, also as %2e, would lead to another route than the one that was looked at here. */
const LEADS_ELSEWHERE = /(?:^|\/)(?:\.|%2e){1,2}(?:[/?]|$)|[\s\\#]/i;

export interface Topic {
  readonly name: string;
  readonly url: string;
  readonly everyMs: number;
  readonly rows: RowsOf | null;
}

/** What a client named that cannot be watched, and why. */
interface RefusedTopic {
  readonly name: string;
  readonly refusal: RequestError;
}

export interface AskedTopics {
  /** Each once, in the given order. */
  readonly topics: readonly Topic[];
  /** The stream goes on without these, and says so. */
  readonly refused: readonly RefusedTopic[];
}

/** Throws where nothing is left to watch: of one bad topic among others its client is told in the stream. */
export function topicsOf(given: unknown): AskedTopics {
  const names = [...new Set(Array.isArray(given) ? given : [given])].filter((name) => name !== undefined);
  if (names.length === 0) throw refusal("topic: give at least one, such as ?topic=overview");
  if (names.length > MOST_TOPICS) throw refusal(`topic: at most ${MOST_TOPICS} in one stream`);
  const judged = names.map(String).map((name) => topicOf(name));
  const topics = judged.filter((each) => "url" in each);
  const refused = judged.filter((each) => "refusal" in each);
  const [first] = refused;
  if (topics.length === 0 && first !== undefined) throw first.refusal;
  return { topics, refused };
}

function topicOf(name: string): Topic | RefusedTopic {
  if (name.length > LONGEST_TOPIC) {
    return { name, refusal: refusal(`topic: needs text of at most ${LONGEST_TOPIC} characters`) };
  }
  const found = WATCHABLE.find(({ path }) => path.test(name));
  if (found === undefined || LEADS_ELSEWHERE.test(name)) {
    const sentence = `topic: ${JSON.stringify(name)} cannot be watched; the API's page says what can`;
    return { name, refusal: refusal(sentence) };
  }
  return { name, url: `/api/v1/${name}`, everyMs: found.everyMs, rows: found.rows ?? null };
}

function refusal(sentence: string): RequestError {
  return new RequestError("INVALID_REQUEST", sentence);
}
