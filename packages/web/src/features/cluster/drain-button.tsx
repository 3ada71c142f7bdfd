import type { InstanceView } from "@signalbox/contract";
import { useWords } from "../../shared/i18n/use-words.ts";
import { safeText } from "../../shared/safe-text.ts";
import { ActionButton } from "../../shared/ui/action-button.tsx";

/** Asks an instance to drain, or takes that back while it is still there. */
export function DrainButton({ instance }: { readonly instance: InstanceView }) {
  const words = useWords();
  const { instanceId, state, drainRequest, running } = instance;
  if (state === "DEAD") return null;
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
      body={() => ({ by: "dashboard" })}
    >
      <p>{words("drain.text", { count: running })}</p>
    </ActionButton>
  );
}
