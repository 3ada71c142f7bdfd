/** An AVAILABLE task run waits at no gate: here is who could claim it. */

import type { Explanation } from "@signalbox/contract";
import { Link } from "@tanstack/react-router";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { Lasting, useInstantFormat } from "../../shared/time/instant.tsx";
import { unattendedText } from "./unattended-text.ts";
import { WhyFrame } from "./why-frame.tsx";

export function ClaimPanel({ explanation }: { readonly explanation: Explanation }) {
  const words = useWords();
  const format = useInstantFormat();
  const { unattended, claimableBy, computedAt, since } = explanation;
  const clock = (at: string): string => format(at, Date.parse(computedAt));
  return (
    <WhyFrame tone="border-s-available">
      <div className="grid gap-2 px-4 py-3" data-claim-panel>
        <h2 className="text-[1.0625rem]">
          {words("claim.ready")} <Lasting from={since} />
          {unattended !== null && <> · {unattendedText(unattended, words, clock)}</>}
        </h2>
        <ul className="grid gap-1">
          {claimableBy.map(({ instanceId, name, running, slots, freeSlots }) => (
            <li key={instanceId} className="flex flex-wrap gap-x-3">
              <span className="font-medium">{safeText(name)}</span>
              <span className="text-muted tabular-nums">
                {words("cluster.slotsUsed", { used: running, slots })}
              </span>
              <span>{words(freeSlots > 0 ? "claim.can" : "claim.full")}</span>
            </li>
          ))}
        </ul>
        <Link to="/cluster" className="justify-self-start text-sm">
          {words("nav.cluster")}
        </Link>
      </div>
    </WhyFrame>
  );
}
