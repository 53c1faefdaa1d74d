/** One field: the control of its shape. */
import { ChoiceField } from "./choice-field";
import type { FieldProps } from "./context";
import { ListField } from "./list-field";
import { MapField } from "./map-field";
import { ObjectField } from "./object-field";
import { PaneField } from "./pane-field";
import { JsonField, NumberField, TextField } from "./raw-field";
import { BooleanField, EnumField, SetField } from "./select-field";

export function ValueField({ shape, ...rest }: FieldProps) {
  switch (shape.kind) {
    case "text":
      return <TextField shape={shape} {...rest} />;
    case "pane":
      return <PaneField shape={shape} {...rest} />;
    case "number":
      return <NumberField shape={shape} {...rest} />;
    case "boolean":
      return <BooleanField shape={shape} {...rest} />;
    case "enum":
      return <EnumField shape={shape} {...rest} />;
    case "set":
      return <SetField shape={shape} {...rest} />;
    case "list":
      return <ListField shape={shape} {...rest} />;
    case "map":
      return <MapField shape={shape} {...rest} />;
    case "object":
      return <ObjectField shape={shape} {...rest} />;
    case "choice":
      return <ChoiceField shape={shape} {...rest} />;
    case "json":
      return <JsonField shape={shape} {...rest} />;
  }
}
