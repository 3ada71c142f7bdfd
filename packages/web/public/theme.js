// Sets theme and language before the first paint. A file of its own: the content security policy allows no inline script.
(() => {
  let chosen = {};
  try {
    chosen = JSON.parse(localStorage.getItem("signalbox.preferences") ?? "{}") ?? {};
  } catch {
    // Storage is switched off, or somebody else wrote there: the system's choice is right then.
  }
  const root = document.documentElement;
  if (chosen.theme === "light" || chosen.theme === "dark") root.dataset.theme = chosen.theme;
  if (typeof chosen.locale === "string") root.lang = chosen.locale;
})();
