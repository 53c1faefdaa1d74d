/** Parts of fields: the label, the hint, and a group of controls under one name. */
import { type ReactNode, useId } from "react";
import { cx } from "../class-names";
import { prose } from "../prose";
import { type FieldProps, useForm } from "./context";
import styles from "./schema-form.module.css";

type Described = Pick<FieldProps, "label" | "shape" | "isRequired" | "mark">;

/** The name as it is in the JSON, and whether the server needs it. */
export function Label({ label, mark }: Pick<Described, "label" | "mark">) {
  if (mark === "hidden") return <span className="sr-only">{label}</span>;
  return (
    <>
      <span className={styles.name}>{label}</span>
      {mark && <span className={styles.required}> required</span>}
    </>
  );
}

/** What the field is for, and what the server takes when it is omitted. */
export function hintOf({ shape, isRequired }: Pick<Described, "shape" | "isRequired">): string {
  const value = shape.default;
  const isEmpty = value === undefined || value === null || value === "" || isEmptyObject(value);
  if (isRequired || isEmpty || shape.kind === "boolean") return shape.help;
  return `${shape.help} Default: ${typeof value === "string" ? value : JSON.stringify(value)}.`.trim();
}

const isEmptyObject = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

export interface GroupProps extends Described {
  path: string;
  /** Buttons at the end of the line of its name. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** A fieldset: its name, hint and error, and the controls in it. */
export function Group({ label, mark, shape, isRequired, path, actions, children }: GroupProps) {
  const id = useId();
  const error = useForm().errors[path];
  const note = error ?? hintOf({ shape, isRequired });
  return (
    <fieldset
      className={styles.group}
      aria-labelledby={`${id}-name`}
      aria-describedby={note ? `${id}-note` : undefined}
    >
      <div className={styles.groupHead}>
        <span id={`${id}-name`} className={styles.legend}>
          <Label label={label} {...(mark === "required" ? { mark } : {})} />
        </span>
        {actions}
      </div>
      {note && (
        <p id={`${id}-note`} className={cx(styles.note, error !== undefined && styles.error)}>
          {error ?? prose(note)}
        </p>
      )}
      {children && <div className={styles.groupBody}>{children}</div>}
    </fieldset>
  );
}
