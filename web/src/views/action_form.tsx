// A form made from the JSON Schema of an answer.
import { safeText } from "../text/format";

interface Field {
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  oneOf?: Array<{ const: unknown; title?: string }>;
}

interface ObjectSchema {
  properties?: Record<string, Field>;
  required?: string[];
}

function fieldsOf(schema: unknown): Array<[string, Field]> {
  return Object.entries((schema as ObjectSchema | undefined)?.properties ?? {});
}

// What is missing, or an empty text.
export function formProblem(schema: unknown, value: Record<string, unknown>): string {
  const required = (schema as ObjectSchema | undefined)?.required ?? [];
  const absent = required.find((name) => value[name] === undefined || value[name] === "");
  return absent === undefined ? "" : `${absent} is required`;
}

function choices(field: Field): Array<{ value: unknown; label: string }> | null {
  if (field.oneOf) return field.oneOf.map((each) =>
    ({ value: each.const, label: each.title ?? String(each.const) }));
  return field.enum ? field.enum.map((each) => ({ value: each, label: String(each) })) : null;
}

export function ActionForm({ schema, value, onChange, disabled }: {
  schema: unknown; value: Record<string, unknown>; disabled: boolean;
  onChange: (value: Record<string, unknown>) => void;
}) {
  const set = (name: string, given: unknown) => onChange({ ...value, [name]: given });
  return <div class="form">{fieldsOf(schema).map(([name, field]) => {
    const label = safeText(field.title ?? name);
    const options = choices(field);
    if (options) return <fieldset key={name} disabled={disabled}><legend>{label}</legend>
      {options.map((each) => <label key={each.label}><input type="radio" name={name}
        checked={value[name] === each.value} onChange={() => set(name, each.value)} />
        {safeText(each.label)}</label>)}</fieldset>;
    if (field.type === "boolean") return <label key={name}><input type="checkbox"
      disabled={disabled} checked={value[name] === true}
      onChange={(event) => set(name, event.currentTarget.checked)} />{label}</label>;
    const number = field.type === "number" || field.type === "integer";
    return <label key={name} class="form-text">{label}
      <input type={number ? "number" : "text"} disabled={disabled}
        value={String(value[name] ?? "")} onInput={(event) => {
          const text = event.currentTarget.value;
          set(name, number && text !== "" ? Number(text) : text);
        }} />
      {field.description && <small>{safeText(field.description)}</small>}</label>;
  })}</div>;
}
