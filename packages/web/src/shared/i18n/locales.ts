/** The languages of the dashboard, each under the name that its readers give it. */
export const LOCALES = {
  "en-US": "English",
  "zh-CN": "简体中文",
  "es-ES": "Español",
  "ja-JP": "日本語",
  "vi-VN": "Tiếng Việt",
} as const;

export type Locale = keyof typeof LOCALES;

export function isLocale(value: unknown): value is Locale {
  return typeof value === "string" && Object.hasOwn(LOCALES, value);
}

/** The first of the wished languages that we speak, by its language alone where the country differs. */
export function chooseLocale(wished: readonly string[]): Locale {
  for (const wish of wished) {
    // A browser may say it as the machine does: "es_ES.UTF-8", "es@euro".
    const language = wish.toLowerCase().split(/[-_.@]/)[0];
    const found = Object.keys(LOCALES).find((locale) => locale.toLowerCase().split("-")[0] === language);
    if (isLocale(found)) return found;
  }
  return "en-US";
}
