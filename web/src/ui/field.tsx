/** A field of a form: label, control, hint and error belong together. */
import { type InputHTMLAttributes, type ReactNode, type Ref, useId } from "react";
import { cx } from "./class-names";
import styles from "./field.module.css";

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | null;
  /** Gets what the control needs to belong to its label, hint and error. */
  children: (control: {
    id: string;
    "aria-describedby"?: string;
    "aria-invalid"?: true;
  }) => ReactNode;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  const described = note ? { "aria-describedby": `${id}-note` } : {};
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({ id, ...described, ...(error ? { "aria-invalid": true } : {}) })}
      {note && (
        <p id={`${id}-note`} className={cx(styles.note, error && styles.error)}>
          {note}
        </p>
      )}
    </div>
  );
}

export interface InputProps extends InputHTMLAttributes<HTMLInputElement> {
  ref?: Ref<HTMLInputElement>;
}

/** One line of text; names and commands are never corrected by the browser. */
export function Input({ className, ...rest }: InputProps) {
  return (
    <input
      autoCapitalize="off"
      autoComplete="off"
      autoCorrect="off"
      spellCheck={false}
      className={cx(styles.input, className)}
      {...rest}
    />
  );
}

/** The classes of controls, for `textarea` and `select`. */
export const controlClass = styles.input;
