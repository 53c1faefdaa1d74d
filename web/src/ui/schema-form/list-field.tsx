/** A list of values: each with its control, in rows that can be added and removed. */
import { Plus, X } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import { Button, IconButton } from "../button";
import type { FieldProps } from "./context";
import { Group } from "./parts";
import styles from "./schema-form.module.css";
import type { ShapeOf } from "./shape";
import { joinPath, startOf } from "./value";
import { ValueField } from "./value-field";

export function ListField(props: FieldProps<ShapeOf<"list">>) {
  const { label, path, shape, value, isRequired, onChange } = props;
  const list = useRef<HTMLUListElement>(null);
  const items: unknown[] = Array.isArray(value) ? value : [];
  const set = (next: unknown[]) => onChange(next.length === 0 && !isRequired ? undefined : next);
  const focus = (index: number) =>
    requestAnimationFrame(() => {
      const row = list.current?.children[index];
      row?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    });
  const add = (index: number) => {
    set(items.toSpliced(index, 0, startOf(shape.item)));
    focus(index);
  };
  const remove = (index: number) => {
    set(items.toSpliced(index, 1));
    focus(Math.max(0, index - 1));
  };
  const pressed = (event: KeyboardEvent, index: number) => {
    const isLine = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
    if (!isLine || event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      add(index + 1);
    }
    if (event.key === "Backspace" && items[index] === "") {
      event.preventDefault();
      remove(index);
    }
  };
  const addButton = (
    <Button size="small" icon={<Plus size={14} />} onClick={() => add(items.length)}>
      Add<span className="sr-only"> to {label}</span>
    </Button>
  );
  return (
    <Group {...props} actions={addButton}>
      {items.length > 0 && (
        <ul className={styles.items} ref={list}>
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place
            <li key={index} className={styles.item} onKeyDown={(event) => pressed(event, index)}>
              <ValueField
                label={`${label}[${index}]`}
                path={joinPath(path, index)}
                shape={{ ...shape.item, help: "" }}
                value={item}
                isRequired
                mark="hidden"
                onChange={(next) => set(items.with(index, next))}
              />
              <IconButton label={`Remove ${label}[${index}]`} onClick={() => remove(index)}>
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </Group>
  );
}
