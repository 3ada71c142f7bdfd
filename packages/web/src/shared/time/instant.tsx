import { useState } from "react";
import { useWords } from "../i18n/use-words.ts";
import { usePreferences } from "../preferences.ts";
import { useNow } from "./clock.ts";
import { dateFormat } from "./formats.ts";
import { lengthText, relativeText, steadyText } from "./length.ts";

interface At {
  readonly at: string;
}

/** "4 min. ago", with the exact time for whoever points at it. */
export function Relative({ at }: At) {
  const { locale } = useWords();
  const now = useNow();
  return <Time at={at}>{relativeText(Date.parse(at) - now, locale)}</Time>;
}

/** "12:04:31", with the day where it is not today's. */
export function Clock({ at }: At) {
  const now = useNow();
  const format = useInstantFormat();
  return <Time at={at}>{format(at, now)}</Time>;
}

function Time({ at, children }: At & { readonly children: string }) {
  const { locale } = useWords();
  const { timeZone } = useZone();
  // Not before somebody points at it: names of time zones take a browser long to look up.
  const [pointed, setPointed] = useState(false);
  return (
    <time
      dateTime={at}
      title={pointed ? exactText(at, locale, timeZone) : undefined}
      onPointerEnter={() => setPointed(true)}
    >
      {children}
    </time>
  );
}

/** How long something lasts: up to now, or up to its end. */
export function Lasting({ from, until }: { readonly from: string; readonly until?: string | null }) {
  const { locale } = useWords();
  const now = useNow();
  const text =
    until == null
      ? steadyText(now - Date.parse(from), locale)
      : lengthText(Date.parse(until) - Date.parse(from), locale);
  return <span className="tabular-nums">{text}</span>;
}

export function useInstantFormat(): (at: string, now: number) => string {
  const { locale } = useWords();
  const zone = useZone();
  return (at, now) => {
    const date = new Date(at);
    const day = dateFormat("sv-SE", { dateStyle: "short", ...zone });
    const sameDay = day.format(date) === day.format(new Date(now));
    return dateFormat(locale, {
      ...(sameDay ? {} : { dateStyle: "medium" }),
      timeStyle: "medium",
      ...zone,
    }).format(date);
  };
}

/** Local time, UTC and ISO: whatever somebody wants to compare it with. */
function exactText(at: string, locale: string, timeZone: string | undefined): string {
  const date = new Date(at);
  const zone = timeZone === undefined ? {} : { timeZone };
  const local = dateFormat(locale, { dateStyle: "full", timeStyle: "long", ...zone }).format(date);
  const utc = dateFormat(locale, { dateStyle: "medium", timeStyle: "long", timeZone: "UTC" }).format(date);
  return `${local}\n${utc}\n${at}`;
}

function useZone(): { readonly timeZone?: string } {
  const { timeZone } = usePreferences();
  return timeZone === "browser" ? {} : { timeZone };
}
