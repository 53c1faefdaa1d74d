/** A field for a pane: the panes that there are, or the name of another. */
import { useState } from "react";
import { controlClass, Field, Input } from "../field";
import { prose } from "../prose";
import { type FieldProps, useForm } from "./context";
import { hintOf, Label } from "./parts";
import styles from "./schema-form.module.css";

const OTHER = " other";

export function PaneField(props: FieldProps) {
  const { label, path, value, isRequired, onChange } = props;
  const { errors, panes } = useForm();
  const [isOther, setOther] = useState(false);
  const id = typeof value === "string" ? value : "";
  const isListed = panes.some((pane) => pane.id === id);
  const choose = (next: string) => {
    setOther(next === OTHER);
    if (next !== OTHER) onChange(next === "" ? undefined : next);
  };
  // A name that was given in the address, or of a pane that has been removed meanwhile.
  const isTyped = isOther || panes.length === 0 || (id !== "" && !isListed);
  return (
    <Field label={<Label {...props} />} hint={prose(hintOf(props))} error={errors[path] ?? null}>
      {(control) => (
        <span className={styles.pane}>
          {panes.length > 0 && (
            <select
              {...(isTyped ? { "aria-label": `${label}: a pane, or another name` } : control)}
              className={controlClass}
              value={isTyped ? OTHER : id}
              onChange={({ target }) => choose(target.value)}
            >
              <option value="">{isRequired ? "Choose a pane…" : "none"}</option>
              {panes.map((pane) => (
                <option key={pane.id} value={pane.id}>
                  {pane.note ? `${pane.id} · ${pane.note}` : pane.id}
                </option>
              ))}
              <option value={OTHER}>Another name…</option>
            </select>
          )}
          {isTyped && (
            <Input
              {...control}
              value={id}
              placeholder="Name of a pane"
              onChange={({ target }) => onChange(target.value || undefined)}
            />
          )}
        </span>
      )}
    </Field>
  );
}
