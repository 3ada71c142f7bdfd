/**
 * What a browser keeps in place of the token: when its session ends, signed. Every server with the same token
 * believes it, and none remembers it; a new token ends all of them.
 */

import { createHmac, timingSafeEqual } from "node:crypto";

const SESSION_MS = 43_200_000;

export interface Sessions {
  /** The value of a new cookie. */
  begin(nowMs: number): string;
  isGood(value: string, nowMs: number): boolean;
  /** The session in the header `Cookie`, if there is one. */
  sessionIn(cookies: string | undefined): string | null;
  /** For `Set-Cookie`; a value of null takes it back. */
  cookie(value: string | null, isHttps: boolean): string;
}

/** `basePath` is what stands before every address: only they get the cookie. */
export function createSessions(token: string, basePath: string): Sessions {
  const derived = (use: string): Buffer => createHmac("sha256", token).update(use).digest();
  // Not the token itself: what is signed with it would help to guess it.
  const key = derived("signalbox session");
  // Two servers on one host, by port or by path, must not end each other's sessions.
  const name = `signalbox_${derived("signalbox cookie").toString("hex").slice(0, 8)}`;
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
    sessionIn: (cookies) => {
      for (const cookie of cookies?.split(";") ?? []) {
        const [named, value] = cookie.trim().split("=", 2);
        if (named === name && value !== undefined) return value;
      }
      return null;
    },
    cookie: (value, isHttps) => {
      const seconds = value === null ? 0 : SESSION_MS / 1_000;
      const secure = isHttps ? "; Secure" : "";
      return `${name}=${value ?? ""}; Path=${basePath}/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
    },
  };
}
