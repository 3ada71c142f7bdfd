/** Where one can go, and how much there needs a person. */

import type { Overview, TaskRunPage } from "@signalbox/contract";
import { Link, useRouterState } from "@tanstack/react-router";
import { useTopic } from "../live/use-topic.ts";
import { FAILED_FOR_GOOD } from "../shared/failures.ts";
import { type MessageId, useWords } from "../shared/i18n/use-words.ts";
import { useNow } from "../shared/time/clock.ts";
import { Icon, type IconName } from "../shared/ui/icon.tsx";
import { type AttentionPlace, attentionOf } from "./attention.ts";
import { Mark } from "./mark.tsx";

interface Place {
  readonly to: string;
  /** Routes from which one comes back there. */
  readonly also?: readonly string[];
  readonly icon: IconName;
  readonly word: MessageId;
}

const PLACES: readonly Place[] = [
  { to: "/", icon: "overview", word: "nav.overview" },
  {
    to: "/tasks",
    also: ["/task-runs/$taskRunId", "/operations", "/operations/$operationId"],
    icon: "tasks",
    word: "nav.tasks",
  },
  { to: "/resources", icon: "resources", word: "nav.resources" },
  { to: "/cluster", icon: "cluster", word: "nav.cluster" },
  { to: "/preferences", icon: "preferences", word: "nav.preferences" },
];

const PLACE =
  "relative flex items-center gap-2.5 rounded-lg px-2 py-2 text-text no-underline hover:bg-raised hover:no-underline max-md:min-h-14 max-md:flex-col max-md:justify-center max-md:gap-0.5 max-md:px-0.5 max-md:text-center max-md:text-[0.6875rem] max-md:leading-tight";
const HERE = "bg-raised font-semibold";

export function Places() {
  const words = useWords();
  const attention = useAttention();
  const routeId = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId });
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
        {PLACES.map(({ to, also = [], icon, word }) => (
          <li key={to} className="min-w-0 flex-1">
            <Link
              to={to}
              activeOptions={{ exact: to === "/", includeSearch: false }}
              className={`${PLACE} ${also.includes(routeId ?? "") ? HERE : ""}`}
              activeProps={{ className: HERE, "aria-current": "page" }}
            >
              <Icon name={icon} size={18} />
              <span className="max-w-full max-md:hyphens-auto max-md:wrap-anywhere md:truncate">
                {words(word)}
              </span>
              <Badge count={attention[to as AttentionPlace] ?? 0} />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Badge({ count }: { readonly count: number }) {
  const words = useWords();
  if (count === 0) return null;
  return (
    <span
      data-attention={count}
      className="ms-auto min-w-5 rounded-full bg-danger px-1.5 text-center text-xs leading-5 font-semibold text-panel tabular-nums max-md:absolute max-md:start-1/2 max-md:top-1 max-md:ms-2"
    >
      <span aria-hidden="true">{count > 99 ? "99+" : count}</span>
      <span className="sr-only">{words("nav.attention", { count })}</span>
    </span>
  );
}

function useAttention(): Readonly<Partial<Record<AttentionPlace, number>>> {
  const { data } = useTopic<Overview>("overview");
  const failures = useTopic<TaskRunPage>(FAILED_FOR_GOOD);
  const now = useNow();
  return data === undefined ? {} : attentionOf(data, failures.data?.taskRuns.length ?? 0, now);
}
