/**
 * A form from the JSON Schema of an action. It shows what it understands as controls and the rest
 * as JSON; what is valid, the server decides. An omitted field is not in the value.
 */
import { useMemo } from "react";
import { Banner } from "../small";
import { FormContext, type PaneOption } from "./context";
import { ObjectFields } from "./object-fields";
import styles from "./schema-form.module.css";
import type { FieldShape, Shape } from "./shape";
import { isObject, type Problems } from "./value";
import { ValueField } from "./value-field";

export type { PaneOption } from "./context";
export { problemsOfRefusal } from "./refusal";
export type { AnySchema, JsonSchema } from "./schema";
export { type FieldShape, type Shape, shapeOf } from "./shape";
export { type Problems, problemsOf, startOfObject } from "./value";

export interface SchemaFormProps {
  /** From `shapeOf(schema)`; computed once for a schema. */
  shape: Shape;
  value: unknown;
  onChange: (value: unknown) => void;
  /** `problemsOf(value)`, or `problemsOfRefusal(error, shape)`. */
  errors?: Problems;
  /** What fields for panes offer. */
  panes?: readonly PaneOption[];
  /** Which fields are shown; all of them without it. */
  only?: (field: FieldShape) => boolean;
}

const NO_ERRORS: Problems = {};
const NO_PANES: readonly PaneOption[] = [];

export function SchemaForm(props: SchemaFormProps) {
  const { shape, value, onChange, errors = NO_ERRORS, panes = NO_PANES, only } = props;
  const context = useMemo(() => ({ errors, panes }), [errors, panes]);
  const problem = errors[""];
  return (
    <FormContext value={context}>
      <div className={styles.form}>
        {problem && <Banner tone="danger">{problem}</Banner>}
        {shape.kind === "object" ? (
          <ObjectFields
            fields={only ? shape.fields.filter(only) : shape.fields}
            path=""
            value={isObject(value) ? value : {}}
            onChange={onChange}
            foldsOptional
          />
        ) : (
          <ValueField
            label="Parameters"
            path=""
            shape={shape}
            value={value}
            isRequired
            onChange={onChange}
          />
        )}
      </div>
    </FormContext>
  );
}
