import { readPreferences } from "../shared/preferences.ts";

/** `public/theme.js` did the same before the first paint. */
export function applyTheme(): void {
  const { theme } = readPreferences();
  const root = document.documentElement;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}
