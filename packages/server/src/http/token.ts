/** The one secret of a server: what it must look like, and whether a caller knows it. */

import { createHash, timingSafeEqual } from "node:crypto";
import { UsageError } from "../usage-error.ts";

const SHORTEST_TOKEN = 16;
/** Headers have a limit of their own, and somebody may have named the wrong file. */
const LONGEST_TOKEN = 512;

/** `source` names where it was given; the token itself is never shown. */
export function requireToken(text: string, source: string): string {
  if (text.length < SHORTEST_TOKEN || text.length > LONGEST_TOKEN) {
    throw new UsageError(
      `${source} has ${text.length} characters; give a secret of ${SHORTEST_TOKEN} to ${LONGEST_TOKEN}, such as openssl rand -hex 32 prints`,
    );
  }
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new UsageError(`${source} has a character that no header can carry; give letters, digits and signs`);
}

export type TokenCheck = (given: string) => boolean;

/** Takes the same time whatever is given: hashes are of one length, and are compared to their end. */
export function createTokenCheck(token: string): TokenCheck {
  const expected = hashOf(token);
  return (given) => timingSafeEqual(hashOf(given), expected);
}

/** The token of `Authorization: Bearer …`; null: the header is not there, or of another kind. */
export function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1] ?? null;
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
