import { expect, test } from "vitest";
import { createSessions, sessionCookie, sessionIn } from "./session-cookie.ts";

const TOKEN = "0123456789abcdef";
const NOW = Date.parse("2026-11-17T12:00:00Z");
const HOUR = 3_600_000;

test("a session is good for twelve hours, on every server with the same token", () => {
  const value = createSessions(TOKEN).begin(NOW);
  const elsewhere = createSessions(TOKEN);

  expect(elsewhere.isGood(value, NOW + 12 * HOUR - 1)).toBe(true);
  expect(elsewhere.isGood(value, NOW + 12 * HOUR)).toBe(false);
});

test("another token ends all sessions", () => {
  const value = createSessions(TOKEN).begin(NOW);

  expect(createSessions("another-0123456789").isGood(value, NOW)).toBe(false);
});

test("nobody can make a session longer, or make one", () => {
  const sessions = createSessions(TOKEN);
  const [endsAt = "", signature = ""] = sessions.begin(NOW).split(".");

  const forged = [
    `${Number(endsAt) + HOUR}.${signature}`,
    `${endsAt}.${"A".repeat(43)}`,
    `${endsAt}.`,
    endsAt,
    `${endsAt}.${signature}.`,
    `0${endsAt}.${signature}`,
    TOKEN,
    "",
  ];
  expect(forged.filter((value) => sessions.isGood(value, NOW))).toEqual([]);
});

test("the token is not in what the browser keeps", () => {
  expect(createSessions(TOKEN).begin(NOW)).not.toContain(TOKEN);
});

test("a session is found among other cookies", () => {
  expect(sessionIn("theme=dark; signalbox_session=1.abc; lang=de")).toBe("1.abc");
  expect(sessionIn("theme=dark; my_signalbox_session=1.abc")).toBeNull();
  expect(sessionIn(undefined)).toBeNull();
});

test("no script and no other site gets the cookie, and no plain http where it came by https", () => {
  expect(sessionCookie("1.abc", true)).toBe(
    "signalbox_session=1.abc; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure",
  );
  expect(sessionCookie("1.abc", false)).not.toContain("Secure");
  expect(sessionCookie(null, false)).toContain("signalbox_session=; Path=/; Max-Age=0;");
});
