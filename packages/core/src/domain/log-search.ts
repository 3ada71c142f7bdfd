/**
 * Finds a text in what a task run printed, line by line and whatever its case. Pure: given the chunks in their order, it
 * puts together what of a line is in one and what in the next.
 */

import { type Count, countUpTo } from "./count.ts";
import type { TaskRunId } from "./ids.ts";
import type { LogStream } from "./log.ts";

/** A line in which the text was found. */
export interface LogMatch {
  readonly stream: LogStream;
  /** The line; of a long one the part around the text. */
  readonly text: string;
  /** When its beginning was stored. */
  readonly at: Date;
  /** Where the line begins, in bytes as they were printed. */
  readonly offset: number;
  /** Where the entry begins in which it begins: give it as `from` to `readLog` to read there. */
  readonly entryOffset: number;
}

/** What a search in a log found. */
export interface LogSearch {
  readonly taskRunId: TaskRunId;
  /** In the order of the log. */
  readonly matches: readonly LogMatch[];
  /** How many lines of the whole log, whatever part of them this is; counted up to 10,000. */
  readonly total: Count;
  /** Give it as `from` to get the next ones; null: these are the last. */
  readonly next: number | null;
  /** The task run has ended: nothing more is printed. */
  readonly ended: boolean;
}

/** What is searched for in a log. */
export interface LogSearchOptions {
  /** Plain text of 1 to 200 characters; its case does not matter. */
  readonly search: string;
  /** `next` of the page before. Default: 0, the beginning. */
  readonly from?: number;
  /** How many lines, from 1 to 1000. Default: 100. */
  readonly limit?: number;
}

export interface SearchedChunk {
  readonly stream: LogStream;
  readonly text: string;
  readonly at: Date;
  readonly startOffset: number;
  readonly endOffset: number;
}

export interface LogSearcher {
  /** False: enough was counted, the page is full, and nothing more need be read. */
  readonly read: (chunks: readonly SearchedChunk[]) => boolean;
  readonly found: () => Pick<LogSearch, "matches" | "total" | "next">;
}

export const MOST_COUNTED_MATCHES = 10_000;
const SHOWN_CHARACTERS = 500;
const SHOWN_BEFORE = 100;
/** Whoever prints no end of line must not fill the memory: such a line is cut here. */
const LONGEST_LINE = 65_536;

/** A line as far as it is known. */
type Line = LogMatch;

export function createLogSearcher({ search, from = 0, limit = 100 }: LogSearchOptions): LogSearcher {
  const wanted = search.toLowerCase();
  /** In the order of the log, the page and the one behind it: a line may end after others that began behind it. */
  const kept: LogMatch[] = [];
  const open = new Map<LogStream, Line>();
  let total = 0;
  let endOffset = 0;
  const judge = (line: Line): void => {
    const position = line.text.toLowerCase().indexOf(wanted);
    if (position < 0) return;
    total += 1;
    if (line.offset < from) return;
    const behind = kept.findIndex(({ offset }) => offset > line.offset);
    const place = behind < 0 ? kept.length : behind;
    if (place > limit) return;
    kept.splice(place, 0, { ...line, text: shownPart(line.text, position) });
    kept.length = Math.min(kept.length, limit + 1);
  };
  const endOpenLines = (): void => {
    for (const line of open.values()) judge(line);
    open.clear();
  };
  /** What is said after the end of a line that began in this chunk or an earlier one. */
  const goOn = (chunk: SearchedChunk, line: Line, ended: boolean): void => {
    open.delete(chunk.stream);
    if (ended) judge({ ...line, text: line.text.replace(/\r$/, "") });
    else if (line.text.length > LONGEST_LINE) judge(line);
    else if (line.text !== "") open.set(chunk.stream, line);
  };
  const readChunk = (chunk: SearchedChunk): void => {
    const { stream, text, at, startOffset } = chunk;
    // What lay between is left out: no line goes on behind it.
    if (startOffset !== endOffset) endOpenLines();
    endOffset = chunk.endOffset;
    const begin = (offset: number): Line => ({ stream, text: "", at, offset, entryOffset: startOffset });
    const [firstEnd, lastEnd] = [text.indexOf("\n"), text.lastIndexOf("\n")];
    const begun = open.get(stream) ?? begin(startOffset);
    const head = firstEnd < 0 ? text : text.slice(0, firstEnd);
    goOn(chunk, { ...begun, text: `${begun.text}${head}` }, firstEnd >= 0);
    if (firstEnd < 0) return;
    for (const { line, before } of linesWith(wanted, text, firstEnd + 1, lastEnd)) {
      judge({ ...begin(startOffset + before), text: line.replace(/\r$/, "") });
    }
    const rest = begin(startOffset + byteLength(text.slice(0, lastEnd + 1)));
    goOn(chunk, { ...rest, text: text.slice(lastEnd + 1) }, false);
  };
  return {
    read: (chunks) => {
      for (const chunk of chunks) readChunk(chunk);
      return total <= MOST_COUNTED_MATCHES || kept.length <= limit;
    },
    found: () => {
      endOpenLines();
      const matches = kept.slice(0, limit);
      return { matches, total: countUpTo(MOST_COUNTED_MATCHES, total), next: kept[limit]?.offset ?? null };
    },
  };
}

interface FoundLine {
  readonly line: string;
  /** Bytes before it, from the beginning of the text. */
  readonly before: number;
}

/**
 * The whole lines of a part of a text that contain what is wanted. It goes from match to match: a log has hundreds of
 * thousands of lines, and to look at each alone would keep the process from everything else.
 */
function* linesWith(wanted: string, text: string, from: number, until: number): Generator<FoundLine> {
  const lower = text.toLowerCase();
  // A few letters have a small form that is longer: then places in it are not places in the text.
  if (lower.length !== text.length) return yield* linesOneByOne(text, from, until);
  let [counted, before] = [0, 0];
  for (let place = lower.indexOf(wanted, from); place >= 0 && place < until; ) {
    const start = text.lastIndexOf("\n", place) + 1;
    const end = text.indexOf("\n", place);
    before += byteLength(text.slice(counted, start));
    counted = start;
    yield { line: text.slice(start, end), before };
    place = lower.indexOf(wanted, end);
  }
}

function* linesOneByOne(text: string, from: number, until: number): Generator<FoundLine> {
  let before = byteLength(text.slice(0, from));
  for (const line of from > until ? [] : text.slice(from, until).split("\n")) {
    yield { line, before };
    before += byteLength(line) + 1;
  }
}

const utf8 = new TextEncoder();

function byteLength(text: string): number {
  return utf8.encode(text).length;
}

const HALF_CHARACTER_FIRST = /^[\uDC00-\uDFFF]/;
const HALF_CHARACTER_LAST = /[\uD800-\uDBFF]$/;

function shownPart(line: string, position: number): string {
  if (line.length <= SHOWN_CHARACTERS) return line;
  const start = Math.max(0, Math.min(position - SHOWN_BEFORE, line.length - SHOWN_CHARACTERS));
  const part = line.slice(start, start + SHOWN_CHARACTERS);
  return part.replace(HALF_CHARACTER_FIRST, "").replace(HALF_CHARACTER_LAST, "");
}
