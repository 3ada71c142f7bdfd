import { useWords } from "../i18n/use-words.ts";

interface ReasonFieldProps {
  readonly reason: string;
  readonly onChange: (reason: string) => void;
  /** Default: it may be left empty. */
  readonly required?: boolean;
}

/** Why somebody does it: shown to those whom it concerns. */
export function ReasonField({ reason, onChange, required = false }: ReasonFieldProps) {
  const words = useWords();
  return (
    <label className="grid gap-1">
      <span>{words(required ? "reason.required" : "reason.label")}</span>
      <input
        className="field"
        maxLength={2_000}
        required={required}
        value={reason}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

/** Who asked, and why where that was said; as the API takes it. */
export function askedBecause(reason: string): { readonly by: string; readonly reason?: string } {
  return reason.trim() === "" ? { by: "dashboard" } : { by: "dashboard", reason: reason.trim() };
}
