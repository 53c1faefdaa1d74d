/** Values of a form: where they begin, how text becomes one, and what is wrong with it. Pure. */
import type { Shape, ShapeOf } from "./shape";

/** Text in a control that is no value yet: half a number, or JSON with a mistake. */
export class RawText {
  readonly text: string;
  readonly problem: string;

  constructor(text: string, problem: string) {
    this.text = text;
    this.problem = problem;
  }
}

/** A sentence for each path such as `argv[1]` or `env.PATH`; `""` is the whole form. */
export type Problems = Readonly<Record<string, string>>;

export function joinPath(path: string, part: string | number): string {
  if (typeof part === "number") return `${path}[${part}]`;
  return path ? `${path}.${part}` : part;
}

/** A new value of a shape, for an item that was added or an object that was opened. */
export function startOf(shape: Shape): unknown {
  if (shape.default !== undefined && shape.default !== null) return shape.default;
  switch (shape.kind) {
    case "text":
      return "";
    case "boolean":
      return false;
    case "enum":
      return shape.options[0]?.value;
    case "list":
    case "set":
      return [];
    case "map":
      return {};
    case "object":
      return startOfObject(shape);
    case "choice":
      return shape.variants[0] ? startOf(shape.variants[0].shape) : undefined;
    case "number":
    case "pane":
    case "json":
      return undefined;
  }
}

/** Only what has one meaning is filled in: objects and lists that are required. */
export function startOfObject(shape: ShapeOf<"object">): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const { name, isRequired, shape: field } of shape.fields) {
    const isContainer = ["object", "list", "set", "map", "boolean"].includes(field.kind);
    const isConstant = field.kind === "enum" && field.options.length === 1;
    if (isRequired && !field.isNullable && (isContainer || isConstant))
      value[name] = startOf(field);
  }
  return value;
}

/** Whether a value may belong to a shape: for finding the alternative that is shown. */
export function fits(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case "text":
    case "pane":
      return typeof value === "string";
    case "number":
      return typeof value === "number" || value instanceof RawText;
    case "boolean":
      return typeof value === "boolean";
    case "enum":
      return shape.options.some((option) => option.value === value);
    case "set":
    case "list":
      return Array.isArray(value) && (shape.kind === "set" || fitsAll(shape.item, value));
    case "map":
      return isObject(value);
    case "object":
      return isObject(value) && hasFields(shape, value);
    case "choice":
      return shape.variants.some((variant) => fits(variant.shape, value));
    case "json":
      return value !== undefined;
  }
}

const fitsAll = (item: Shape, values: readonly unknown[]) =>
  values.every((value) => value === undefined || fits(item, value));

/** Alternatives differ in what they require, often by a constant. */
function hasFields(shape: ShapeOf<"object">, value: Record<string, unknown>): boolean {
  return shape.fields.every(({ name, isRequired, shape: field }) => {
    if (value[name] === undefined) return !isRequired || field.kind !== "enum";
    return field.kind !== "enum" || fits(field, value[name]);
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `undefined` for an empty text. */
export function parseNumber(text: string, isInteger: boolean): number | RawText | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return new RawText(text, "This must be a number.");
  if (isInteger && !Number.isInteger(value)) {
    return new RawText(text, "This must be a whole number.");
  }
  return value;
}

/** `undefined` for an empty text. */
export function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    return new RawText(text, `This is not JSON: ${(error as Error).message}.`);
  }
}

/** The text of a number or JSON control for a value. */
export function textOf(value: unknown): string {
  if (value === undefined) return "";
  return value instanceof RawText ? value.text : JSON.stringify(value, null, 2);
}

/** An object without the fields that are not set. */
export function withField(
  object: Record<string, unknown>,
  name: string,
  value: unknown,
): Record<string, unknown> {
  const { [name]: _, ...rest } = object;
  if (value === undefined) return rest;
  // A field keeps its place, so that rows of a map do not jump.
  return name in object ? { ...object, [name]: value } : { ...rest, [name]: value };
}

/** What cannot be sent as it is. Everything else is for the server to judge. */
export function problemsOf(value: unknown, path = ""): Problems {
  if (value instanceof RawText) return { [path]: value.problem };
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : isObject(value)
      ? Object.entries(value)
      : [];
  return Object.assign(
    {},
    ...entries.map(([name, item]) => problemsOf(item, joinPath(path, name))),
  );
}
