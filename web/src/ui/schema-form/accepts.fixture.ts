/** A small validator for tests: whether a schema accepts a value, as far as forms matter. */
import type { AnySchema, JsonSchema } from "./schema";

export function accepts(schema: AnySchema, value: unknown): boolean {
  if (typeof schema !== "object") return schema !== false;
  if (schema.const !== undefined) return schema.const === value;
  if (schema.enum && !schema.enum.includes(value)) return false;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants && !variants.some((variant) => accepts(variant, value))) return false;
  const types = schema.type === undefined ? null : [schema.type].flat();
  if (types && !types.some((type) => isOf(type, value))) return false;
  if (typeof value === "string") return !schema.pattern || new RegExp(schema.pattern).test(value);
  if (typeof value === "number") return value >= (schema.minimum ?? value);
  if (Array.isArray(value)) return value.every((item) => accepts(schema.items, item));
  if (typeof value === "object" && value !== null) {
    return acceptsObject(schema, value as Record<string, unknown>);
  }
  return true;
}

function acceptsObject(schema: JsonSchema, value: Record<string, unknown>): boolean {
  if (!(schema.required ?? []).every((name) => name in value)) return false;
  return Object.entries(value).every(([name, item]) =>
    accepts(schema.properties?.[name] ?? schema.additionalProperties, item),
  );
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
