/** The fields of an object: required ones first, many optional ones folded. */
import { type ReactNode, useState } from "react";
import { useForm } from "./context";
import styles from "./schema-form.module.css";
import type { FieldShape } from "./shape";
import { joinPath, withField } from "./value";
import { ValueField } from "./value-field";

/** With more optional fields than this, they are folded. */
const MOST_OPEN = 6;

export interface ObjectFieldsProps {
  fields: readonly FieldShape[];
  path: string;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  foldsOptional?: boolean;
}

export function ObjectFields({ fields, path, value, onChange, foldsOptional }: ObjectFieldsProps) {
  const required = fields.filter((field) => field.isRequired);
  const optional = fields.filter((field) => !field.isRequired);
  const row = ({ name, isRequired, shape }: FieldShape) => (
    <ValueField
      key={name}
      label={name}
      path={joinPath(path, name)}
      shape={shape}
      value={value[name]}
      isRequired={isRequired}
      {...(isRequired ? { mark: "required" as const } : {})}
      onChange={(next) => onChange(withField(value, name, next))}
    />
  );
  if (!foldsOptional || optional.length <= MOST_OPEN) {
    return (
      <>
        {required.map(row)}
        {optional.map(row)}
      </>
    );
  }
  return (
    <>
      {required.map(row)}
      <Folded fields={optional} value={value} path={path} isOpenAtFirst={required.length === 0}>
        {optional.map(row)}
      </Folded>
    </>
  );
}

interface FoldedProps {
  fields: readonly FieldShape[];
  path: string;
  value: Record<string, unknown>;
  isOpenAtFirst: boolean;
  children: ReactNode;
}

/** Optional fields. They unfold for a field that is set from the start, and for one with an error. */
function Folded({ fields, path, value, isOpenAtFirst, children }: FoldedProps) {
  const { errors } = useForm();
  const isSet = fields.some(({ name }) => value[name] !== undefined);
  const [isOpen, setOpen] = useState(isOpenAtFirst || isSet);
  const hasError = fields.some(({ name }) =>
    Object.keys(errors).some((at) => isWithin(at, joinPath(path, name))),
  );
  return (
    <details
      className={styles.more}
      open={isOpen || hasError}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{fields.length} optional parameters</summary>
      <div className={styles.moreFields}>{children}</div>
    </details>
  );
}

function isWithin(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);
}
