import { expect, test } from "vitest";
import { createSessions, type Sessions } from "./session-cookie.ts";

const TOKEN = "0123456789abcdef";
const NOW = Date.parse("2026-11-17T12:00:00Z");
const HOUR = 3_600_000;
const open = (token = TOKEN): Sessions => createSessions(token, "");

test("a session is good for twelve hours, on every server with the same token", () => {
  const value = open().begin(NOW);
  const elsewhere = open();

  expect(elsewhere.isGood(value, NOW + 12 * HOUR - 1)).toBe(true);
  expect(elsewhere.isGood(value, NOW + 12 * HOUR)).toBe(false);
});

test("another token ends all sessions", () => {
  const value = open().begin(NOW);

  expect(open("another-0123456789").isGood(value, NOW)).toBe(false);
});

test("nobody can make a session longer, or make one", () => {
  const sessions = open();
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
  expect(open().begin(NOW)).not.toContain(TOKEN);
});

const nameOf = (sessions: Sessions): string => sessions.cookie("", false).split("=")[0] ?? "";

test("a session is found among other cookies", () => {
  const sessions = open();
  const name = nameOf(sessions);

  expect(sessions.sessionIn(`theme=dark; ${name}=1.abc; lang=de`)).toBe("1.abc");
  expect(sessions.sessionIn(`theme=dark; my_${name}=1.abc`)).toBeNull();
  expect(sessions.sessionIn(undefined)).toBeNull();
});

test("no script and no other site gets the cookie, and no plain http where it came by https", () => {
  const sessions = open();
  const name = nameOf(sessions);

  expect(sessions.cookie("1.abc", true)).toBe(
    `${name}=1.abc; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure`,
  );
  expect(sessions.cookie("1.abc", false)).not.toContain("Secure");
  expect(sessions.cookie(null, false)).toContain(`${name}=; Path=/; Max-Age=0;`);
});

test("servers with other tokens have other cookies, and each only below its path", () => {
  expect(nameOf(open("another-0123456789"))).not.toBe(nameOf(open()));
  expect(nameOf(open())).toMatch(/^signalbox_[0-9a-f]{8}$/);
  expect(createSessions(TOKEN, "/staging").cookie("1.abc", false)).toContain("; Path=/staging/;");
});
