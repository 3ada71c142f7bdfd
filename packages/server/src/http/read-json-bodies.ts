/** How a body becomes a value: UTF-8, JSON, no member twice, and none that would change what an object is. */

import type { FastifyInstance } from "fastify";
import { doubledMember } from "./doubled-member.ts";
import { RequestError } from "./problem.ts";

const SHOWN_CHARACTERS = 60;
const utf8 = new TextDecoder("utf-8", { fatal: true });

export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    const text = textOf(body);
    if (text === null) {
      done(new RequestError("INVALID_REQUEST", "The body is not UTF-8"));
      return;
    }
    void parse(request, text, (error, value) => {
      done(error === null ? doubledIn(text, value) : refusalOf(text), value);
    });
  });
}

/** By default bytes that are no UTF-8 become other characters, and the client would never know. */
function textOf(body: Buffer): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}

function doubledIn(text: string, value: unknown): RequestError | null {
  const name = doubledMember(text, value);
  if (name === null) return null;
  const shown = JSON.stringify(name.slice(0, SHOWN_CHARACTERS));
  return new RequestError("INVALID_REQUEST", `The body has ${shown} twice in one object; give it once`);
}

/** The parser has one sentence for all that it refuses. */
function refusalOf(text: string): RequestError {
  if (text === "") return new RequestError("INVALID_REQUEST", "The body is empty; send JSON, at least {}");
  try {
    JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return new RequestError("INVALID_REQUEST", `The body is not JSON: ${why}`);
  }
  return new RequestError(
    "INVALID_REQUEST",
    'The body has a member "__proto__", or "prototype" in "constructor", which could change other objects; give it another name',
  );
}
