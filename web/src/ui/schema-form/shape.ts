/** What a form shows for a schema: one shape for each kind of control. Pure. */
import { type AnySchema, type JsonSchema, resolve, withoutNull } from "./schema";

export interface Option {
  value: unknown;
  label: string;
  help: string;
}

export interface FieldShape {
  name: string;
  isRequired: boolean;
  shape: Shape;
}

interface Common {
  help: string;
  isNullable: boolean;
  /** What the server takes when the value is omitted; `undefined` if the schema does not say. */
  default: unknown;
}

export type Shape = Common &
  (
    | { kind: "text"; format: string | null; isLong: boolean }
    | { kind: "pane" }
    | { kind: "number"; isInteger: boolean; minimum: number | null; maximum: number | null }
    | { kind: "boolean" }
    | { kind: "enum"; options: readonly Option[] }
    | { kind: "set"; options: readonly Option[] }
    | { kind: "list"; item: Shape }
    | { kind: "map"; value: Shape }
    | { kind: "object"; fields: readonly FieldShape[] }
    | { kind: "choice"; variants: readonly { label: string; shape: Shape }[] }
    | { kind: "json" }
  );

export type ShapeOf<K extends Shape["kind"]> = Extract<Shape, { kind: K }>;

/** Texts that usually have several lines, by the name of their parameter. */
const LONG = new Set(["text", "prompt", "message", "body", "layout"]);
const PANE_NAMES = /^(pane|panes|paneId|paneIds)$/;
/** The pattern of pane ids, as paned writes it; the id of a new pane has it, too. */
const PANE_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
/** Deeper schemas, which may contain themselves, are edited as JSON. */
const DEEPEST = 8;

/** The shape of a schema. `name` is that of the parameter. */
export function shapeOf(schema: AnySchema, name = "", root?: JsonSchema, depth = 0): Shape {
  const top = root ?? (typeof schema === "object" ? schema : {});
  const plain = withoutNull(schema, top);
  const found = depth < DEEPEST ? controlOf(plain.schema, name, top, depth) : null;
  const common = {
    help: oneLine(plain.schema.description ?? ""),
    isNullable: plain.isNullable,
    default: plain.schema.default,
  };
  return { ...(found ?? { kind: "json" }), ...common } as Shape;
}

type Control = { kind: Shape["kind"]; [field: string]: unknown };

function controlOf(
  schema: JsonSchema,
  name: string,
  root: JsonSchema,
  depth: number,
): Control | null {
  const options = optionsOf(schema, root);
  if (options) return { kind: "enum", options };
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants && !schema.properties) return choiceOf(variants, name, root, depth);
  switch (schema.type) {
    case "string":
      return textOf(schema, name);
    case "integer":
    case "number": {
      const { minimum = null, maximum = null } = schema;
      return { kind: "number", isInteger: schema.type === "integer", minimum, maximum };
    }
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return listOf(schema, name, root, depth);
    default:
      return schema.type === "object" || schema.properties ? objectOf(schema, root, depth) : null;
  }
}

function textOf(schema: JsonSchema, name: string): Control {
  if (PANE_NAMES.test(name) && schema.pattern === PANE_PATTERN) return { kind: "pane" };
  const format = schema.format ?? null;
  return { kind: "text", format, isLong: LONG.has(name) || format === "layout-toml" };
}

function listOf(schema: JsonSchema, name: string, root: JsonSchema, depth: number): Control {
  const item = shapeOf(schema.items, name, root, depth + 1);
  if (item.kind === "enum") return { kind: "set", options: item.options };
  return { kind: "list", item };
}

function objectOf(schema: JsonSchema, root: JsonSchema, depth: number): Control | null {
  const parts = [schema, ...(schema.allOf ?? []).map((part) => resolve(part, root))];
  const properties: Record<string, AnySchema> = {};
  for (const part of parts) {
    for (const [name, property] of Object.entries(part.properties ?? {})) {
      properties[name] ??= property;
    }
  }
  const required = new Set(parts.flatMap((part) => part.required ?? []));
  const fields = Object.entries(properties).map(([name, property]) => ({
    name,
    isRequired: required.has(name),
    shape: shapeOf(property, name, root, depth + 1),
  }));
  if (fields.length > 0) return { kind: "object", fields };
  const value = schema.additionalProperties;
  if (value === false) return { kind: "object", fields: [] };
  if (value === undefined || schema.patternProperties) return depth === 0 ? null : { kind: "json" };
  return { kind: "map", value: shapeOf(value, "", root, depth + 1) };
}

function choiceOf(
  schemas: readonly AnySchema[],
  name: string,
  root: JsonSchema,
  depth: number,
): Control | null {
  const variants = schemas.map((schema) => {
    const shape = shapeOf(schema, name, root, depth + 1);
    return { label: resolve(schema, root).title ?? labelOf(shape), shape };
  });
  // Alternatives without a type only restrict each other.
  if (variants.length === 0 || variants.every(({ shape }) => shape.kind === "json")) return null;
  return { kind: "choice", variants };
}

/** The values of an `enum`, of a `const`, and of a `oneOf` of these. */
function optionsOf(schema: JsonSchema, root: JsonSchema): Option[] | null {
  if (schema.enum) return schema.enum.filter((it) => it !== null).map((it) => optionOf(it, ""));
  if (schema.const !== undefined) {
    return [optionOf(schema.const, oneLine(schema.description ?? ""), schema.title)];
  }
  const parts = (schema.oneOf ?? schema.anyOf)?.map((part) => resolve(part, root));
  if (!parts || parts.length === 0) return null;
  const options = parts.map((part) => optionsOf(part, root));
  return options.every((it) => it !== null) ? options.flat() : null;
}

function optionOf(value: unknown, help: string, title?: string): Option {
  const label = title ?? (typeof value === "string" ? value : JSON.stringify(value));
  return { value, label, help };
}

const KIND_LABELS: Record<Shape["kind"], string> = {
  text: "text",
  pane: "pane",
  number: "number",
  boolean: "yes or no",
  enum: "one of a list",
  set: "some of a list",
  list: "list",
  map: "entries",
  object: "with options",
  choice: "other",
  json: "JSON",
};

function labelOf(shape: Shape): string {
  if (shape.kind === "enum" && shape.options.length === 1) return shape.options[0]?.label ?? "";
  return KIND_LABELS[shape.kind];
}

/** Doc comments are wrapped for the source. */
function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}
