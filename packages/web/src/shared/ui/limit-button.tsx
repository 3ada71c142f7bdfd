import { useState } from "react";
import { useWords } from "../i18n/use-words.ts";
import { ActionButton } from "./action-button.tsx";

interface LimitButtonProps {
  /** What has the limit, as people call it. */
  readonly name: string;
  /** 0: unlimited. */
  readonly limit: number;
  readonly path: string;
}

export function LimitButton({ name, limit, path }: LimitButtonProps) {
  const words = useWords();
  // Null: as it is now, also when somebody else has changed it meanwhile.
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? String(limit);
  return (
    <ActionButton
      label={words("limit.change")}
      title={words("limit.title", { name })}
      keep={words("limit.keep")}
      act={words("limit.act")}
      method="PUT"
      path={path}
      body={() => ({ limit: Number(text) })}
      onDone={() => setTyped(null)}
    >
      <label className="grid gap-1">
        <span>{words("limit.label")}</span>
        <input
          className="field w-32"
          type="number"
          min={0}
          step={1}
          required
          value={text}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <p className="text-sm text-muted">{words("limit.text")}</p>
    </ActionButton>
  );
}
