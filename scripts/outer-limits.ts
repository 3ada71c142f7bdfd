/** The part of `limits.ts` that is about processes, logs and the server. */

import { CORE, type Limit } from "./limits.ts";

const SERVER = "packages/server/src";

export const PROCESS_LIMITS: readonly Limit[] = [
  {
    what: "of a longer log these are kept at its beginning",
    file: `${CORE}/domain/log.ts`,
    name: "LOG_HEAD_BYTES",
    unit: "bytes",
  },
  { what: "and these at its end", file: `${CORE}/domain/log.ts`, name: "LOG_TAIL_BYTES", unit: "bytes" },
  { what: "one entry of a log", file: `${CORE}/domain/log.ts`, name: "LOG_CHUNK_BYTES", unit: "bytes" },
  {
    what: "entries of a page of a log, default",
    file: `${CORE}/engine/log-reader.ts`,
    name: "DEFAULT_LOG_PAGE",
  },
  {
    what: "entries of a page of a log, at most",
    file: `${CORE}/engine/log-reader.ts`,
    name: "LARGEST_LOG_PAGE",
  },
  {
    what: "what is searched for in a log",
    file: `${CORE}/engine/log-reader.ts`,
    name: "LONGEST_SEARCH",
    unit: "characters",
  },
  {
    what: "lines with it that are counted",
    file: `${CORE}/domain/log-search.ts`,
    name: "MOST_COUNTED_MATCHES",
  },
  {
    what: "a line that is searched; a longer one is cut there",
    file: `${CORE}/domain/log-search.ts`,
    name: "LONGEST_LINE",
    unit: "characters",
  },
  {
    what: "what is printed is stored after",
    file: `${CORE}/engine/log-writer.ts`,
    name: "FLUSH_MS",
    unit: "ms",
  },
  {
    what: "the same, once the beginning is full",
    file: `${CORE}/engine/log-writer.ts`,
    name: "FLUSH_LONG_MS",
    unit: "ms",
  },
  {
    what: "an outcome waits for its log, when the database is away",
    file: `${CORE}/engine/log-writer.ts`,
    name: "END_PATIENCE_MS",
    unit: "ms",
  },
  {
    what: "from TERM to KILL, default",
    file: `${CORE}/executors/process/define-process.ts`,
    name: "DEFAULT_GRACE_MS",
    unit: "ms",
  },
  {
    what: "the same at most when the instance leaves or has lost its lease",
    file: `${CORE}/executors/process/define-process.ts`,
    name: "MAX_HURRIED_GRACE_MS",
    unit: "ms",
  },
  {
    what: "the same at most when the instance is gone",
    file: `${CORE}/executors/process/warden.ts`,
    name: "ORPHAN_GRACE_MS",
    unit: "ms",
  },
  {
    what: "part of the lease after which processes get TERM without a good beat",
    file: `${CORE}/executors/process/group-watch.ts`,
    name: "TERM_PART",
  },
  {
    what: "part of the lease after which they get KILL",
    file: `${CORE}/executors/process/group-watch.ts`,
    name: "KILL_PART",
  },
  {
    what: "arguments of a process",
    file: `${CORE}/executors/process/process-input.ts`,
    name: "MAX_ARGUMENTS",
  },
  {
    what: "one argument or variable of a process",
    file: `${CORE}/executors/process/process-input.ts`,
    name: "MAX_ARGUMENT_BYTES",
    unit: "bytes",
  },
  {
    what: "output of a process, as it is read",
    file: `${CORE}/executors/process/process-output.ts`,
    name: "MAX_OUTPUT_BYTES",
    unit: "bytes",
  },
];

export const SERVER_LIMITS: readonly Limit[] = [
  {
    what: "body of a request",
    file: `${SERVER}/http/server-limits.ts`,
    name: "BODY_LIMIT_BYTES",
    unit: "bytes",
  },
  {
    what: "address of a request, with its query",
    file: `${SERVER}/http/server-limits.ts`,
    name: "LONGEST_ADDRESS",
    unit: "characters",
  },
  {
    what: "headers of a request",
    file: `${SERVER}/http/server-limits.ts`,
    name: "HEADER_BYTES",
    unit: "bytes",
  },
  {
    what: "until the headers of a request are there",
    file: `${SERVER}/http/server-limits.ts`,
    name: "HEADERS_WITHIN_MS",
    unit: "ms",
  },
  {
    what: "until a request is there",
    file: `${SERVER}/http/server-limits.ts`,
    name: "REQUEST_WITHIN_MS",
    unit: "ms",
  },
  {
    what: "a connection on which nothing is said",
    file: `${SERVER}/http/server-limits.ts`,
    name: "SILENT_CONNECTION_MS",
    unit: "ms",
  },
  {
    what: "the token of a server, at least",
    file: `${SERVER}/http/token.ts`,
    name: "SHORTEST_TOKEN",
    unit: "characters",
  },
  {
    what: "a session of a browser",
    file: `${SERVER}/http/session-cookie.ts`,
    name: "SESSION_MS",
    unit: "ms",
  },
  {
    what: "clients whose rate is remembered",
    file: `${SERVER}/http/rate-limit.ts`,
    name: "MOST_CLIENTS",
  },
  {
    what: "first port that is tried, default",
    file: `${SERVER}/cli/commands/dev.ts`,
    name: "DEFAULT_PORT",
  },
  { what: "ports tried from there on", file: `${SERVER}/http/listen.ts`, name: "PORTS_TRIED" },
  {
    what: "instances of `signalbox dev`, default",
    file: `${SERVER}/cli/commands/dev.ts`,
    name: "DEFAULT_INSTANCES",
  },
  {
    what: "their lease",
    file: `${SERVER}/dev/instance-messages.ts`,
    name: "DEV_LEASE_MS",
    unit: "ms",
  },
  { what: "their beat", file: `${SERVER}/dev/instance.ts`, name: "beatMs", unit: "ms" },
  { what: "their grace", file: `${SERVER}/dev/instance.ts`, name: "graceMs", unit: "ms" },
  { what: "their poll interval", file: `${SERVER}/dev/instance.ts`, name: "pollIntervalMs", unit: "ms" },
  { what: "their slots", file: `${SERVER}/dev/instance.ts`, name: "slots" },
];
