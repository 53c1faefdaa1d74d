/** Fields that choose: yes or no, one of a list, some of a list. */
import { useId } from "react";
import { controlClass, Field } from "../field";
import { prose } from "../prose";
import { type FieldProps, useForm } from "./context";
import { Group, hintOf, Label } from "./parts";
import styles from "./schema-form.module.css";
import type { ShapeOf } from "./shape";

/** A box when the schema says what an omitted value means, else a choice of three. */
export function BooleanField(props: FieldProps<ShapeOf<"boolean">>) {
  const { path, shape, value, isRequired, onChange } = props;
  const error = useForm().errors[path];
  const id = useId();
  if (!isRequired && typeof shape.default !== "boolean") return <ThreeWay {...props} />;
  const isChecked = (value ?? shape.default ?? false) === true;
  const set = (next: boolean) => onChange(!isRequired && next === shape.default ? undefined : next);
  const note = error ?? shape.help;
  return (
    <div className={styles.check}>
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        aria-describedby={note ? `${id}-note` : undefined}
        onChange={(event) => set(event.target.checked)}
      />
      <label htmlFor={id}>
        <Label {...props} />
      </label>
      {note && (
        <p id={`${id}-note`} className={error ? styles.error : styles.note}>
          {error ?? prose(shape.help)}
        </p>
      )}
    </div>
  );
}

function ThreeWay(props: FieldProps<ShapeOf<"boolean">>) {
  const { path, value, onChange } = props;
  const error = useForm().errors[path] ?? null;
  return (
    <Field label={<Label {...props} />} hint={prose(hintOf(props))} error={error}>
      {(control) => (
        <select
          {...control}
          className={controlClass}
          value={value === undefined ? "" : String(value)}
          onChange={({ target }) =>
            onChange(target.value === "" ? undefined : target.value === "true")
          }
        >
          <option value="">default</option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      )}
    </Field>
  );
}

export function EnumField(props: FieldProps<ShapeOf<"enum">>) {
  const { path, shape, value, isRequired, onChange } = props;
  const error = useForm().errors[path] ?? null;
  const at = shape.options.findIndex((option) => option.value === value);
  const help = shape.options[at]?.help;
  const hint = help ? `${hintOf(props)} “${shape.options[at]?.label}”: ${help}` : hintOf(props);
  return (
    <Field label={<Label {...props} />} hint={prose(hint)} error={error}>
      {(control) => (
        <select
          {...control}
          className={controlClass}
          value={at}
          onChange={({ target }) => onChange(shape.options[Number(target.value)]?.value)}
        >
          <option value={-1}>{isRequired ? "Choose…" : "default"}</option>
          {shape.options.map((option, index) => (
            <option key={option.label} value={index}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function SetField(props: FieldProps<ShapeOf<"set">>) {
  const { shape, value, isRequired, onChange } = props;
  const id = useId();
  const chosen = Array.isArray(value) ? value : [];
  const toggle = (item: unknown, isChosen: boolean) => {
    const next = isChosen ? [...chosen, item] : chosen.filter((other) => other !== item);
    onChange(next.length === 0 && !isRequired ? undefined : next);
  };
  return (
    <Group {...props}>
      {shape.options.map((option) => (
        <div key={option.label} className={styles.check}>
          <input
            id={`${id}-${option.label}`}
            type="checkbox"
            checked={chosen.includes(option.value)}
            onChange={(event) => toggle(option.value, event.target.checked)}
          />
          <label htmlFor={`${id}-${option.label}`}>{option.label}</label>
          {option.help && <p className={styles.note}>{prose(option.help)}</p>}
        </div>
      ))}
    </Group>
  );
}
