import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createAppRouter } from "./app/router.tsx";
import { applyTheme } from "./app/theme.ts";
import { createLiveData } from "./live/live-data.ts";
import { LiveDataContext } from "./live/use-topic.ts";
import { activateLanguage } from "./shared/i18n/language.ts";
import { followOtherTabs, subscribe } from "./shared/preferences.ts";
import "./app/styles.css";

const queries = new QueryClient();
const live = createLiveData(queries);
const router = createAppRouter();

followOtherTabs();
subscribe(() => {
  applyTheme();
  void activateLanguage();
});
await activateLanguage();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queries}>
        <LiveDataContext value={live}>
          <RouterProvider router={router} />
        </LiveDataContext>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
