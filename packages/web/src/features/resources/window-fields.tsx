import type { HTMLInputTypeAttribute } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import type { WindowDraft } from "./window-draft.ts";

interface WindowFieldsProps {
  readonly draft: WindowDraft;
  readonly onChange: (draft: WindowDraft) => void;
}

export function WindowFields({ draft, onChange }: WindowFieldsProps) {
  const words = useWords();
  const set = (change: Partial<WindowDraft>): void => onChange({ ...draft, ...change });
  return (
    <>
      <Choice
        label={words("window.field.kind")}
        value={draft.kind}
        options={[
          ["maintenance", words("window.kind.maintenance")],
          ["freeze", words("window.kind.freeze")],
        ]}
        onChange={(kind) => set({ kind: kind === "freeze" ? "freeze" : "maintenance" })}
      />
      <p className="text-sm text-muted">{words(`window.text.${draft.kind}`)}</p>
      <Choice
        label={words("window.field.when")}
        value={draft.repeated ? "repeated" : "once"}
        options={[
          ["repeated", words("window.field.repeated")],
          ["once", words("window.field.once")],
        ]}
        onChange={(when) => set({ repeated: when === "repeated" })}
      />
      {draft.repeated ? <Repeated draft={draft} set={set} /> : <Once draft={draft} set={set} />}
    </>
  );
}

interface PartProps {
  readonly draft: WindowDraft;
  readonly set: (change: Partial<WindowDraft>) => void;
}

function Repeated({ draft, set }: PartProps) {
  const words = useWords();
  return (
    <>
      <Field label={words("window.field.opens")} value={draft.opens} onChange={(opens) => set({ opens })} />
      <Field
        label={words("window.field.lasts")}
        type="number"
        value={draft.minutes}
        onChange={(minutes) => set({ minutes })}
      />
      <Choice
        label={words("window.field.zone")}
        value={draft.timeZone}
        options={zones(draft.timeZone).map((zone) => [zone, zone])}
        onChange={(timeZone) => set({ timeZone })}
      />
    </>
  );
}

function Once({ draft, set }: PartProps) {
  const words = useWords();
  return (
    <>
      <Field
        label={words("window.field.from")}
        type="datetime-local"
        value={draft.from}
        onChange={(from) => set({ from })}
      />
      <Field
        label={words("window.field.until")}
        type="datetime-local"
        value={draft.until}
        onChange={(until) => set({ until })}
      />
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: HTMLInputTypeAttribute;
}

function Field({ label, value, onChange, type = "text" }: FieldProps) {
  return (
    <label className="grid gap-1">
      <span>{label}</span>
      <input
        className="field min-w-0"
        type={type}
        min={0}
        step="any"
        required
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

interface ChoiceProps extends Omit<FieldProps, "type"> {
  readonly options: readonly (readonly [value: string, label: string])[];
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label className="grid gap-1">
      <span>{label}</span>
      <select className="field min-w-0" value={value} onChange={({ target }) => onChange(target.value)}>
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A browser does not list UTC, nor every name that a server takes. */
function zones(own: string): readonly string[] {
  return [...new Set([own, "UTC", ...Intl.supportedValuesOf("timeZone")])];
}
