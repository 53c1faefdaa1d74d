/** Every other parameter, from the schema of the action. */
import { useMemo, useState } from "react";
import { useActions } from "../../state/actions";
import { type Problems, SchemaForm, type Shape, shapeOf } from "../../ui/schema-form";
import styles from "./create.module.css";
import { type Form, SHOWN } from "./form";

export interface MoreFieldsProps {
  shape: Shape;
  kind: Form["kind"];
  value: Form["more"];
  errors: Problems;
  onChange: (value: Form["more"]) => void;
}

export function MoreFields({ shape, kind, value, errors, onChange }: MoreFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  const hasError = Object.keys(errors).some((path) => path !== "" && !isShown(kind, path));
  return (
    <details
      className={styles.more}
      open={isOpen || hasError}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>More</summary>
      {(isOpen || hasError) && (
        <SchemaForm
          shape={shape}
          value={value}
          errors={errors}
          only={(field) => !SHOWN[kind].has(field.name)}
          onChange={(next) => onChange(next as Form["more"])}
        />
      )}
    </details>
  );
}

/** Whether the dialog itself has the field of a path. */
export function isShown(kind: Form["kind"], path: string): boolean {
  return SHOWN[kind].has(path.split(/[.[]/)[0] ?? "");
}

/** The shape of the parameters; nothing until the actions are known. */
export function useShape(name: string): Shape | null {
  const { actions } = useActions();
  const schema = actions?.find((action) => action.name === name)?.params;
  return useMemo(() => (schema ? shapeOf(schema) : null), [schema]);
}
