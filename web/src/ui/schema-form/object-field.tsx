/** An object in an object. An optional one is opened first. */
import { Button } from "../button";
import type { FieldProps } from "./context";
import { ObjectFields } from "./object-fields";
import { Group } from "./parts";
import type { ShapeOf } from "./shape";
import { isObject, startOfObject } from "./value";

export function ObjectField(props: FieldProps<ShapeOf<"object">>) {
  const { label, path, shape, value, isRequired, onChange } = props;
  const isOpen = isObject(value) || isRequired;
  const toggle = isRequired ? null : (
    <Button size="small" onClick={() => onChange(isOpen ? undefined : startOfObject(shape))}>
      {isOpen ? "Leave out" : "Set"}
      <span className="sr-only"> {label}</span>
    </Button>
  );
  return (
    <Group {...props} actions={toggle}>
      {isOpen && (
        <ObjectFields
          fields={shape.fields}
          path={path}
          value={isObject(value) ? value : {}}
          onChange={onChange}
        />
      )}
    </Group>
  );
}
