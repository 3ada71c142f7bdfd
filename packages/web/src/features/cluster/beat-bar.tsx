/** What is left of an instance's lease: full after each beat, empty when the lease is over. */

import type { InstanceView } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { serverNow, useNow } from "../../shared/time/clock.ts";
import { lengthText } from "../../shared/time/length.ts";

export function BeatBar({ instance }: { readonly instance: InstanceView }) {
  const words = useWords();
  const now = useNow();
  const until = Date.parse(instance.leaseUntil);
  const wholeMs = Math.max(1, until - Date.parse(instance.beatAt));
  const left = instance.state === "DEAD" ? 0 : Math.max(0, until - now);
  const text = words("cluster.leaseLeft", { length: lengthText(left, words.locale) });
  return (
    <div className="grid min-w-24 items-center" title={text}>
      <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-raised">
        {instance.state !== "DEAD" && <Drain key={instance.beatAt} until={until} wholeMs={wholeMs} />}
      </div>
      <span className="sr-only">{text}</span>
    </div>
  );
}

interface DrainProps {
  readonly until: number;
  readonly wholeMs: number;
}

/** Drawn anew with each beat; between two beats the style sheet moves it, from where it stands by the server's clock. */
function Drain({ until, wholeMs }: DrainProps) {
  const goneMs = Math.min(wholeMs, Math.max(0, wholeMs - (until - serverNow())));
  const part = 1 - goneMs / wholeMs;
  return (
    <div
      className="draining h-full origin-left rounded-full bg-done"
      style={{
        transform: `scaleX(${part})`,
        animationName: "drain",
        animationDuration: `${wholeMs - goneMs}ms`,
      }}
    />
  );
}
