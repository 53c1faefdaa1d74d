/** A value of one of several kinds: the kind is chosen first, then its control is shown. */
import { useState } from "react";
import { cx } from "../class-names";
import { controlClass } from "../field";
import type { FieldProps } from "./context";
import { Group } from "./parts";
import styles from "./schema-form.module.css";
import type { ShapeOf } from "./shape";
import { fits, startOf } from "./value";
import { ValueField } from "./value-field";

const NONE = -1;

export function ChoiceField(props: FieldProps<ShapeOf<"choice">>) {
  const { label, path, shape, value, isRequired, onChange } = props;
  const [chosen, setChosen] = useState(NONE);
  const at = shownAt(shape, chosen, value);
  const variant = shape.variants[at];
  const choose = (index: number) => {
    const next = shape.variants[index];
    setChosen(index);
    onChange(next ? startOf(next.shape) : undefined);
  };
  const kinds = (
    <select
      className={cx(controlClass, styles.kinds)}
      aria-label={`Kind of ${label}`}
      value={at}
      onChange={({ target }) => choose(Number(target.value))}
    >
      <option value={NONE}>{isRequired ? "Choose…" : "default"}</option>
      {shape.variants.map((it, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: alternatives have no identity but their place
        <option key={index} value={index}>
          {it.label}
        </option>
      ))}
    </select>
  );
  return (
    <Group {...props} actions={kinds}>
      {variant && (
        <ValueField
          label={label}
          path={path}
          shape={variant.shape}
          value={value}
          isRequired
          mark="hidden"
          onChange={onChange}
        />
      )}
    </Group>
  );
}

/** The alternative that was chosen, while the value may be one of it; else the first that fits. */
function shownAt(shape: ShapeOf<"choice">, chosen: number, value: unknown): number {
  const variant = shape.variants[chosen];
  if (variant && (value === undefined || fits(variant.shape, value))) return chosen;
  if (value === undefined) return NONE;
  return shape.variants.findIndex((it) => fits(it.shape, value));
}
