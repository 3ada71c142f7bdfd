import { useEffect, useRef, useState } from "react";
import { useWords } from "../i18n/use-words.ts";
import { Icon } from "./icon.tsx";

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  /** Or how to make it, where that costs something. */
  readonly text: string | (() => string);
  readonly label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const words = useWords();
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    await copyText(typeof text === "string" ? text : text());
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <button type="button" className="btn btn-quiet px-1.5" onClick={() => void copy()} title={label}>
      <Icon name={copied ? "check" : "copy"} />
      <span className="sr-only" aria-live="polite">
        {copied ? words("copy.done") : label}
      </span>
    </button>
  );
}

/** Over plain HTTP a page has no clipboard; what is selected can still be copied. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
