/** What stands around every page: where one can go, how fresh the page is, and what is wrong as a whole. */

import { Link, Outlet } from "@tanstack/react-router";
import { useState } from "react";
import { useLiveState } from "../live/live-state.ts";
import { type MessageId, useWords } from "../shared/i18n/use-words.ts";
import { Icon, type IconName } from "../shared/ui/icon.tsx";
import { Banner } from "./banner.tsx";
import { EnvironmentBadge } from "./environment-badge.tsx";
import { LivePill } from "./live-pill.tsx";
import { Login } from "./login.tsx";
import { ShortcutHelp } from "./shortcut-help.tsx";
import { useGlobalShortcuts } from "./shortcuts.ts";

const PLACES: readonly { readonly to: string; readonly icon: IconName; readonly word: MessageId }[] = [
  { to: "/", icon: "overview", word: "nav.overview" },
  { to: "/tasks", icon: "tasks", word: "nav.tasks" },
  { to: "/resources", icon: "resources", word: "nav.resources" },
  { to: "/cluster", icon: "cluster", word: "nav.cluster" },
  { to: "/preferences", icon: "preferences", word: "nav.preferences" },
];

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
          <LivePill />
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

function Places() {
  const words = useWords();
  return (
    <nav
      aria-label={words("nav.label")}
      className="fixed inset-x-0 bottom-0 z-20 border-t border-line bg-panel md:sticky md:inset-x-auto md:top-0 md:h-dvh md:border-t-0 md:border-r md:p-3"
    >
      <Link
        to="/"
        className="mb-4 flex items-center gap-2 px-2 pt-1 text-lg font-semibold text-text no-underline max-md:hidden"
      >
        <Mark />
        signalbox
      </Link>
      <ul className="flex md:grid md:gap-1">
        {PLACES.map(({ to, icon, word }) => (
          <li key={to} className="min-w-0 flex-1">
            <Link
              to={to}
              activeOptions={{ exact: to === "/", includeSearch: false }}
              className="flex items-center gap-2.5 rounded-lg px-2 py-2 text-text no-underline hover:bg-raised hover:no-underline max-md:min-h-14 max-md:flex-col max-md:justify-center max-md:gap-0.5 max-md:text-center max-md:text-[0.6875rem] max-md:leading-tight"
              activeProps={{ className: "bg-raised font-semibold", "aria-current": "page" }}
            >
              <Icon name={icon} size={18} />
              <span className="max-w-full truncate">{words(word)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A signal with two lights. */
function Mark() {
  return (
    <svg aria-hidden="true" width="18" height="26" viewBox="0 0 18 26">
      <rect x="2" width="14" height="26" rx="7" fill="var(--ink)" />
      <circle cx="9" cy="7.2" r="3.6" fill="#ff4d47" />
      <circle cx="9" cy="18.8" r="3.6" fill="#5fd38a" />
    </svg>
  );
}
