/**
 * To be loaded before uPlot, which hands the browser's language to `Intl` while it is loaded and dies of one that is no BCP 47 tag
 * ("en-US@posix", where the browser took it from the machine). It gets the dashboard's own in its place.
 */

try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: document.documentElement.lang, configurable: true });
}
