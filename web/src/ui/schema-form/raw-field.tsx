/** Fields that are typed: text, numbers and JSON. */
import { type ReactNode, useState } from "react";
import { cx } from "../class-names";
import { controlClass, Field, Input } from "../field";
import { prose } from "../prose";
import { type FieldProps, useForm } from "./context";
import { hintOf, Label } from "./parts";
import styles from "./schema-form.module.css";
import type { ShapeOf } from "./shape";
import { parseJson, parseNumber, textOf } from "./value";

/** Examples for the formats that paned has. */
const EXAMPLES: Record<string, string> = {
  folder: "/home/you/project",
  regex: "error|warning",
  key: "ctrl+c",
  "http-address": "http://127.0.0.1:8080/health",
  "git-name": "my-branch",
  "date-time": "2026-11-18T20:42:23Z",
};

export function TextField(props: FieldProps<ShapeOf<"text">>) {
  const { path, shape, value, isRequired, onChange } = props;
  const error = useForm().errors[path] ?? null;
  const text = typeof value === "string" ? value : "";
  // An empty optional text is an omitted one.
  const set = (next: string) => onChange(next === "" && !isRequired ? undefined : next);
  const isMono = shape.format !== null || /^(argv|command|pattern|stop)/.test(path);
  const placeholder = shape.format ? EXAMPLES[shape.format] : undefined;
  return (
    <Field label={<Label {...props} />} hint={prose(hintOf(props))} error={error}>
      {(control) =>
        shape.isLong ? (
          <textarea
            {...control}
            className={cx(controlClass, styles.area)}
            rows={Math.min(12, Math.max(2, text.split("\n").length))}
            value={text}
            onChange={(event) => set(event.target.value)}
          />
        ) : (
          <Input
            {...control}
            className={cx(isMono && styles.mono)}
            placeholder={placeholder}
            value={text}
            onChange={(event) => set(event.target.value)}
          />
        )
      }
    </Field>
  );
}

/** The text that is shown while it is typed: `1.` and `{` are no values of their own. */
function useTyped(value: unknown, parse: (text: string) => unknown): [string, typeof setText] {
  const [text, setText] = useState(() => textOf(value));
  const isSame = JSON.stringify(parse(text)) === JSON.stringify(value);
  return [isSame ? text : textOf(value), setText];
}

export function NumberField(props: FieldProps<ShapeOf<"number">>) {
  const { path, shape, value, onChange } = props;
  const error = useForm().errors[path] ?? null;
  const parse = (text: string) => parseNumber(text, shape.isInteger);
  const [text, setText] = useTyped(value, parse);
  return (
    <Field label={<Label {...props} />} hint={prose(hintOf(props))} error={error}>
      {(control) => (
        <Input
          {...control}
          className={styles.number}
          inputMode={shape.isInteger ? "numeric" : "decimal"}
          placeholder={range(shape)}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            onChange(parse(event.target.value));
          }}
        />
      )}
    </Field>
  );
}

/** Limits that say something: not those of the integer's type. */
function range({ minimum, maximum }: ShapeOf<"number">): string | undefined {
  if (minimum === null || maximum === null || maximum >= 2 ** 32 - 1) return undefined;
  return `${minimum} to ${maximum}`;
}

export function JsonField(props: FieldProps): ReactNode {
  const { path, value, onChange } = props;
  const error = useForm().errors[path] ?? null;
  const [text, setText] = useTyped(value, parseJson);
  return (
    <Field label={<Label {...props} />} hint={prose(hintOf(props))} error={error}>
      {(control) => (
        <textarea
          {...control}
          className={cx(controlClass, styles.area, styles.mono)}
          spellCheck={false}
          placeholder={'JSON: {"a": 1}, [1, 2], "text", 3, true'}
          rows={Math.min(16, Math.max(2, text.split("\n").length))}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            onChange(parseJson(event.target.value));
          }}
        />
      )}
    </Field>
  );
}
