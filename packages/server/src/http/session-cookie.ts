/**
 * What a browser keeps in place of the token: when its session ends, signed. Every server with the same token
 * believes it, and none remembers it; a new token ends all of them.
 */

import { createHmac, timingSafeEqual } from "node:crypto";

const NAME = "signalbox_session";
const SESSION_MS = 43_200_000;

export interface Sessions {
  /** The value of a new cookie. */
  begin(nowMs: number): string;
  isGood(value: string, nowMs: number): boolean;
}

export function createSessions(token: string): Sessions {
  // Not the token itself: what is signed with it would help to guess it.
  const key = createHmac("sha256", token).update("signalbox session").digest();
  const sign = (text: string): Buffer => createHmac("sha256", key).update(text).digest();
  return {
    begin: (nowMs) => {
      const endsAtMs = String(nowMs + SESSION_MS);
      return `${endsAtMs}.${sign(endsAtMs).toString("base64url")}`;
    },
    isGood: (value, nowMs) => {
      const [, endsAtMs = "", signature = ""] = /^(\d{1,15})\.([\w-]{43})$/.exec(value) ?? [];
      const given = Buffer.from(signature, "base64url");
      const expected = sign(endsAtMs);
      return given.length === expected.length && timingSafeEqual(given, expected) && Number(endsAtMs) > nowMs;
    },
  };
}

/** The session in the header `Cookie`, if there is one. */
export function sessionIn(cookies: string | undefined): string | null {
  for (const cookie of cookies?.split(";") ?? []) {
    const [name, value] = cookie.trim().split("=", 2);
    if (name === NAME && value !== undefined) return value;
  }
  return null;
}

/** For `Set-Cookie`; a value of null takes it back. */
export function sessionCookie(value: string | null, isHttps: boolean): string {
  const seconds = value === null ? 0 : SESSION_MS / 1_000;
  const secure = isHttps ? "; Secure" : "";
  return `${NAME}=${value ?? ""}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
