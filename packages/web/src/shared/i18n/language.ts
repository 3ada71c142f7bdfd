/** One chunk per language, loaded when it is chosen. */

import { i18n, type Messages } from "@lingui/core";
import { readPreferences } from "../preferences.ts";
import { chooseLocale, type Locale } from "./locales.ts";

const CATALOGUES: Readonly<Record<Locale, () => Promise<{ readonly messages: Messages }>>> = {
  "en-US": async () => await import("virtual:messages/en-US"),
  "zh-CN": async () => await import("virtual:messages/zh-CN"),
  "es-ES": async () => await import("virtual:messages/es-ES"),
  "ja-JP": async () => await import("virtual:messages/ja-JP"),
  "vi-VN": async () => await import("virtual:messages/vi-VN"),
};

export async function activateLanguage(): Promise<void> {
  const locale = readPreferences().locale ?? chooseLocale(navigator.languages);
  if (i18n.locale === locale) return;
  const { messages } = await CATALOGUES[locale]();
  i18n.load(locale, messages);
  i18n.activate(locale);
  document.documentElement.lang = locale;
}
