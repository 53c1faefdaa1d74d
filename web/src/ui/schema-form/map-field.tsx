/** An object with names of one's own, such as variables of the environment. */
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "../button";
import { Input } from "../field";
import type { FieldProps } from "./context";
import { Group } from "./parts";
import styles from "./schema-form.module.css";
import type { ShapeOf } from "./shape";
import { isObject, joinPath, startOf, withField } from "./value";
import { ValueField } from "./value-field";

export function MapField(props: FieldProps<ShapeOf<"map">>) {
  const { label, path, shape, value, isRequired, onChange } = props;
  const [name, setName] = useState("");
  const entries = isObject(value) ? value : {};
  const set = (next: Record<string, unknown>) =>
    onChange(Object.keys(next).length === 0 && !isRequired ? undefined : next);
  const canAdd = name !== "" && !(name in entries);
  const add = () => {
    if (!canAdd) return;
    // A value without a start of its own begins as an empty text.
    set({ ...entries, [name]: startOf(shape.value) ?? "" });
    setName("");
  };
  return (
    <Group {...props}>
      <ul className={styles.items}>
        {Object.entries(entries).map(([key, item]) => (
          <li key={key} className={styles.item}>
            <ValueField
              label={key}
              path={joinPath(path, key)}
              shape={{ ...shape.value, help: "" }}
              value={item}
              isRequired
              onChange={(next) => set({ ...entries, [key]: next ?? "" })}
            />
            <IconButton
              label={`Remove ${key}`}
              onClick={() => set(withField(entries, key, undefined))}
            >
              <X />
            </IconButton>
          </li>
        ))}
        <li className={styles.item}>
          <Input
            aria-label={`Name of a new entry of ${label}`}
            placeholder="Name"
            className={styles.mono}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
              event.preventDefault();
              add();
            }}
          />
          <Button size="small" icon={<Plus size={14} />} disabled={!canAdd} onClick={add}>
            Add<span className="sr-only"> to {label}</span>
          </Button>
        </li>
      </ul>
    </Group>
  );
}
