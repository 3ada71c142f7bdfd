import type { InstanceView } from "@signalbox/contract";
import { useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { ActionButton } from "../../shared/ui/action-button.tsx";
import { askedBecause, ReasonField } from "../../shared/ui/reason-field.tsx";

/** Asks an instance to drain, or takes that back while it is still there. */
export function DrainButton({ instance }: { readonly instance: InstanceView }) {
  const words = useWords();
  const [reason, setReason] = useState("");
  const { instanceId, state, drainRequest, running } = instance;
  // One that leaves by itself needs nobody to ask it, and cannot be called back.
  if (state === "DEAD" || (state === "DRAINING" && drainRequest === null)) return null;
  const name = safeText(instance.name);
  const path = `instances/${encodeURIComponent(instanceId)}/drain`;
  if (drainRequest !== null) {
    return (
      <ActionButton
        label={words("drain.stop")}
        title={words("drain.stopTitle", { name })}
        keep={words("drain.keepDraining")}
        act={words("drain.stop")}
        method="DELETE"
        path={path}
        body={() => undefined}
      >
        <p>{words("drain.stopText")}</p>
      </ActionButton>
    );
  }
  return (
    <ActionButton
      label={words("drain.act")}
      title={words("drain.title", { name })}
      keep={words("drain.keep")}
      act={words("drain.act")}
      method="POST"
      path={path}
      body={() => askedBecause(reason)}
    >
      <p>{words("drain.text", { count: running })}</p>
      <ReasonField reason={reason} onChange={setReason} />
    </ActionButton>
  );
}
