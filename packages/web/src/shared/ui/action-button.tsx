/** A button that asks first, then changes something and says what the server answered. */

import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type ChangeMethod, change } from "../../api/request.ts";
import { useRefresh } from "../../live/use-topic.ts";
import { useWords } from "../i18n/use-words.ts";
import { problemText } from "./answer.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";

export interface ActionButtonProps {
  readonly label: string;
  readonly title: string;
  readonly keep: string;
  readonly act: string;
  readonly method: ChangeMethod;
  readonly path: string;
  /** Read when the action is confirmed. */
  readonly body: () => unknown;
  readonly dangerous?: boolean;
  readonly className?: string;
  readonly children?: ReactNode;
  readonly onDone?: (answer: unknown) => void;
  /** Why it cannot be done now; the button stays visible. */
  readonly disabledBecause?: string | undefined;
}

export function ActionButton(props: ActionButtonProps) {
  const words = useWords();
  const refresh = useRefresh();
  const [open, setOpen] = useState(false);
  const { method, path, body, onDone } = props;
  const action = useMutation({
    mutationFn: async () => await change(method, path, body()),
    onSuccess: async (answer) => {
      setOpen(false);
      onDone?.(answer);
      await refresh();
    },
  });
  const disabled = props.disabledBecause !== undefined;
  return (
    <>
      <button
        type="button"
        className={`btn ${props.className ?? ""}`}
        disabled={disabled}
        title={props.disabledBecause}
        onClick={() => {
          action.reset();
          setOpen(true);
        }}
      >
        {props.label}
      </button>
      {open && (
        <ConfirmDialog
          title={props.title}
          keep={props.keep}
          act={props.act}
          dangerous={props.dangerous ?? false}
          pending={action.isPending}
          problem={action.error === null ? null : problemText(action.error, words("problem.unreachable"))}
          onKeep={() => setOpen(false)}
          onAct={() => action.mutate()}
        >
          {props.children}
        </ConfirmDialog>
      )}
    </>
  );
}
