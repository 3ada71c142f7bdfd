/** What must be true of every answer, whatever was asked. */

import type { IncomingHttpHeaders } from "node:http";
import { problemSchema } from "@signalbox/contract";
import { ERROR_CODES } from "../../packages/core/src/domain/errors.ts";
import type { DrawnRequest } from "../hostile/draw-request.ts";
import { read, tableUnder } from "../unit/markdown.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const KNOWN_CODES: ReadonlySet<string> = new Set([
  ...ERROR_CODES,
  ...tableUnder(read("docs/reference/errors.md"), "Errors of the API").map(([code = ""]) => code),
]);

/** Where our files are, and what a stack looks like: nothing of a server's inside is anybody's business. */
const INSIDES = /node_modules|\\n {4}at |\.[jt]s:\d+:\d+|packages\/(?:core|server)|ECONNREFUSED|severity/;

/** What is wrong with it, a line each. */
export function judgeAnswer(
  asked: DrawnRequest,
  answer: Answer,
  secrets: readonly string[],
): readonly string[] {
  const { status, headers, text } = answer;
  const whole = `${JSON.stringify(headers)}\n${text}`;
  return [
    ...(status < 500 ? [] : [`answered with ${status}`]),
    ...secrets.filter((secret) => whole.includes(secret)).map((secret) => `tells ${secret}`),
    ...(INSIDES.test(withoutEcho(whole)) ? ["tells what the server is like inside"] : []),
    ...(headers["x-content-type-options"] === "nosniff" ? [] : ["has no protecting headers"]),
    ...(status >= 400 ? problemsOfRefusal(asked, answer) : problemsOfAnswer(asked, answer)),
  ];
}

/** One of the hostile paths has it: what was sent may come back. */
function withoutEcho(text: string): string {
  return text.replaceAll(/node_modules\/pg|node_modules%2Fpg/g, "");
}

function problemsOfRefusal({ method }: DrawnRequest, { status, headers, text }: Answer): readonly string[] {
  if (method === "HEAD") return [];
  if (!String(headers["content-type"]).startsWith("application/problem+json")) return ["is no problem"];
  const read = problemSchema.safeParse(JSON.parse(text));
  if (!read.success) return [`is no problem: ${read.error.message}`];
  const { code, requestId, detail } = read.data;
  return [
    ...(KNOWN_CODES.has(code) ? [] : [`has the code ${code}, which no page explains`]),
    ...(read.data.status === status ? [] : [`says ${read.data.status} and is ${status}`]),
    ...(requestId === headers["x-request-id"] ? [] : ["has another id than its header"]),
    ...(detail.length > 1_001 ? [`has a sentence of ${detail.length} characters`] : []),
  ];
}

function problemsOfAnswer({ route, method }: DrawnRequest, { status, text }: Answer): readonly string[] {
  if (method !== route.method) return [];
  const { answer } = route;
  if (answer === null) return status === 204 && text === "" ? [] : ["answers where nothing is to be said"];
  if (typeof answer === "string") return [];
  const read = answer.safeParse(JSON.parse(text));
  return read.success ? [] : [`is not what the contract has: ${read.error.message}`];
}
