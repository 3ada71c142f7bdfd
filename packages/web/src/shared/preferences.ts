/** What the reader has chosen, kept in this browser. `public/theme.js` reads the same entry before the first paint. */

import { useSyncExternalStore } from "react";
import { isLocale, type Locale } from "./i18n/locales.ts";

export type Theme = "system" | "light" | "dark";

export interface Preferences {
  readonly theme: Theme;
  /** Null: the browser's language, where we speak it. */
  readonly locale: Locale | null;
  /** "browser", or the name of a time zone. */
  readonly timeZone: string;
  readonly shortcuts: boolean;
  readonly wrapLog: boolean;
}

const KEY = "signalbox.preferences";
const DEFAULTS: Preferences = {
  theme: "system",
  locale: null,
  timeZone: "browser",
  shortcuts: true,
  wrapLog: true,
};

const listeners = new Set<() => void>();
let current = readStored();

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, readPreferences);
}

export function readPreferences(): Preferences {
  return current;
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Storage is switched off: the choice lasts until the page is left.
  }
  announce();
}

/** Tells when they change, here or in another tab. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function followOtherTabs(): void {
  addEventListener("storage", ({ key }) => {
    if (key !== KEY) return;
    current = readStored();
    announce();
  });
}

export function parsePreferences(text: string | null): Preferences {
  const stored = parseObject(text);
  const { theme, locale, timeZone, shortcuts, wrapLog } = stored;
  return {
    theme: theme === "light" || theme === "dark" ? theme : DEFAULTS.theme,
    locale: isLocale(locale) ? locale : DEFAULTS.locale,
    timeZone: typeof timeZone === "string" && isTimeZone(timeZone) ? timeZone : DEFAULTS.timeZone,
    shortcuts: typeof shortcuts === "boolean" ? shortcuts : DEFAULTS.shortcuts,
    wrapLog: typeof wrapLog === "boolean" ? wrapLog : DEFAULTS.wrapLog,
  };
}

function isTimeZone(name: string): boolean {
  if (name === "browser") return true;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function readStored(): Preferences {
  try {
    return parsePreferences(localStorage.getItem(KEY));
  } catch {
    return DEFAULTS;
  }
}

function announce(): void {
  for (const listener of listeners) listener();
}

/** Whatever else lies there, also by the hand of somebody else, counts as nothing. */
function parseObject(text: string | null): { readonly [Name in keyof Preferences]?: unknown } {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
