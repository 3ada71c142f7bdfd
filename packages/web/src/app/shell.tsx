/** What stands around every page: where one can go, how fresh the page is, and what is wrong as a whole. */

import { Link, Outlet } from "@tanstack/react-router";
import { useState } from "react";
import { useLiveState } from "../live/live-state.ts";
import { useWords } from "../shared/i18n/use-words.ts";
import { Icon } from "../shared/ui/icon.tsx";
import { Banner } from "./banner.tsx";
import { EnvironmentBadge } from "./environment-badge.tsx";
import { LivePill } from "./live-pill.tsx";
import { Login } from "./login.tsx";
import { Mark } from "./mark.tsx";
import { Places } from "./places.tsx";
import { ShortcutHelp } from "./shortcut-help.tsx";
import { useGlobalShortcuts } from "./shortcuts.ts";

export function Shell() {
  const words = useWords();
  const { locked } = useLiveState();
  const [helping, setHelping] = useState(false);
  useGlobalShortcuts(() => setHelping(true));
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="btn btn-ink sr-only z-30 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
        onClick={(event) => {
          // With a <base> a bare fragment would lead to another page.
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        {words("nav.skip")}
      </a>
      <Places />
      <div className="flex min-w-0 flex-col pb-16 md:pb-0">
        <header className="sticky top-0 z-20 flex min-h-14 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-panel px-4 py-2">
          <Link to="/" className="flex items-center gap-2 font-semibold text-text no-underline md:hidden">
            <Mark />
            <span className="max-xs:sr-only">signalbox</span>
          </Link>
          <EnvironmentBadge />
          <span className="flex-1" />
          {/* Who is not let in sees nothing that could be fresh. */}
          {!locked && <LivePill />}
          <button
            type="button"
            className="btn btn-quiet px-1.5 max-md:hidden"
            title={words("shortcuts.title")}
            onClick={() => setHelping(true)}
          >
            <Icon name="question" size={18} />
            <span className="sr-only">{words("shortcuts.title")}</span>
          </button>
        </header>
        <Banner />
        <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[84rem] flex-1 p-3 outline-none sm:p-5">
          {locked ? <Login /> : <Outlet />}
        </main>
      </div>
      {helping && <ShortcutHelp onClose={() => setHelping(false)} />}
    </div>
  );
}
