import type { ReactNode } from "react";
import { isLocale, LOCALES } from "../../shared/i18n/locales.ts";
import { useWords } from "../../shared/i18n/use-words.ts";
import { setPreferences, type Theme, usePreferences } from "../../shared/preferences.ts";
import { usePageTitle } from "../../shared/ui/page-title.ts";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function PreferencesPage() {
  const words = useWords();
  const { theme, shortcuts, wrapLog } = usePreferences();
  usePageTitle(words("nav.preferences"));
  return (
    <div className="grid max-w-2xl gap-4">
      <h1>{words("nav.preferences")}</h1>
      <div className="panel grid gap-5 p-5">
        <fieldset>
          <legend className="mb-1 font-semibold">{words("preferences.theme")}</legend>
          <div className="flex flex-wrap gap-4">
            {THEMES.map((each) => (
              <label key={each} className="inline-flex min-h-6 items-center gap-2">
                <input
                  type="radio"
                  name="theme"
                  className="size-4"
                  checked={theme === each}
                  onChange={() => setPreferences({ theme: each })}
                />
                {words(`preferences.theme.${each}`)}
              </label>
            ))}
          </div>
        </fieldset>
        <Language />
        <TimeZone />
        <Switch checked={shortcuts} onChange={(checked) => setPreferences({ shortcuts: checked })}>
          {words("preferences.shortcuts")}
        </Switch>
        <Switch checked={wrapLog} onChange={(checked) => setPreferences({ wrapLog: checked })}>
          {words("log.wrap")}
        </Switch>
        <p className="text-sm text-muted">{words("preferences.note")}</p>
      </div>
    </div>
  );
}

function Language() {
  const words = useWords();
  return (
    <label className="grid gap-1">
      <span className="font-semibold">{words("preferences.language")}</span>
      <select
        className="field w-full max-w-xs min-w-0"
        value={words.locale}
        onChange={({ target }) => setPreferences({ locale: isLocale(target.value) ? target.value : null })}
      >
        {Object.entries(LOCALES).map(([locale, name]) => (
          <option key={locale} value={locale} lang={locale}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function TimeZone() {
  const words = useWords();
  const { timeZone } = usePreferences();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <label className="grid gap-1">
      <span className="font-semibold">{words("preferences.timeZone")}</span>
      <select
        className="field w-full max-w-xs min-w-0"
        value={timeZone}
        onChange={({ target }) => setPreferences({ timeZone: target.value })}
      >
        <option value="browser">{words("preferences.timeZone.browser", { zone: own })}</option>
        <option value="UTC">UTC</option>
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SwitchProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: ReactNode;
}

function Switch({ checked, onChange, children }: SwitchProps) {
  return (
    <label className="inline-flex min-h-6 items-center gap-2">
      <input
        type="checkbox"
        className="size-4"
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
      />
      {children}
    </label>
  );
}
