import type { PauseRequest } from "@signalbox/contract";
import { useState } from "react";
import { useWords } from "../i18n/use-words.ts";
import { ActionButton } from "./action-button.tsx";
import { askedBecause, ReasonField } from "./reason-field.tsx";

interface PauseButtonProps {
  readonly name: string;
  readonly what: PauseRequest["what"];
  readonly paused: boolean;
}

/** Pauses what is not paused, and resumes what is. */
export function PauseButton({ name, what, paused }: PauseButtonProps) {
  const words = useWords();
  const [reason, setReason] = useState("");
  if (paused) {
    return (
      <ActionButton
        label={words("pause.resume")}
        title={words("pause.resumeTitle", { name })}
        keep={words("pause.keepPaused")}
        act={words("pause.resume")}
        method="POST"
        path="pauses/end"
        body={() => ({ what, by: "dashboard" })}
      >
        <p>{words("pause.resumeText")}</p>
      </ActionButton>
    );
  }
  return (
    <ActionButton
      label={words("pause.pause")}
      title={words("pause.title", { name })}
      keep={words("pause.keepGoing")}
      act={words("pause.pause")}
      method="POST"
      path="pauses"
      onDone={() => setReason("")}
      body={() => ({ what, ...askedBecause(reason) })}
    >
      <p>{words("pause.text")}</p>
      <ReasonField reason={reason} onChange={setReason} />
    </ActionButton>
  );
}
