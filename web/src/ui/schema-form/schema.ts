/** The JSON Schemas that actions have, as far as a form reads them. Pure. */

/** What a form reads of a schema; the server checks everything else. */
export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, JsonSchema | boolean>;
  required?: readonly string[];
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema | boolean;
  anyOf?: readonly (JsonSchema | boolean)[];
  oneOf?: readonly (JsonSchema | boolean)[];
  allOf?: readonly (JsonSchema | boolean)[];
  [keyword: string]: unknown;
}

export type AnySchema = JsonSchema | boolean | undefined;

/** A schema without `$ref`, and whether it also accepts `null`. */
export interface Plain {
  schema: JsonSchema;
  isNullable: boolean;
}

/** References are followed this often, so that one that names itself ends. */
const MOST_REFERENCES = 16;

/** Follows `#/…` references; fields beside `$ref`, such as a description, win. */
export function resolve(schema: AnySchema, root: JsonSchema): JsonSchema {
  let current = typeof schema === "object" ? schema : {};
  for (let turn = 0; current.$ref !== undefined && turn < MOST_REFERENCES; turn += 1) {
    const { $ref, ...beside } = current;
    current = { ...lookUp($ref, root), ...beside };
  }
  return current;
}

function lookUp(reference: string, root: JsonSchema): JsonSchema {
  if (!reference.startsWith("#")) return {};
  let found: unknown = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = (found as Record<string, unknown> | undefined)?.[name];
  }
  return typeof found === "object" && found !== null ? (found as JsonSchema) : {};
}

/** Takes `null` out of a schema: out of `type`, and out of `anyOf` or `oneOf`. */
export function withoutNull(schema: AnySchema, root: JsonSchema): Plain {
  const plain = resolve(schema, root);
  if (Array.isArray(plain.type) && plain.type.includes("null")) {
    const types = plain.type.filter((type) => type !== "null");
    const type = types.length === 1 ? (types[0] as string) : types;
    return { schema: { ...plain, type }, isNullable: true };
  }
  const variants = plain.anyOf ?? plain.oneOf;
  if (!variants) return { schema: plain, isNullable: false };
  const others = variants.map((it) => resolve(it, root)).filter((it) => it.type !== "null");
  if (others.length === variants.length) return { schema: plain, isNullable: false };
  const { anyOf: _, oneOf: __, ...beside } = plain;
  if (others.length !== 1) return { schema: { ...beside, anyOf: others }, isNullable: true };
  // The outer description says what the parameter is for, the inner one what its type is.
  return { schema: { ...resolve(others[0], root), ...beside }, isNullable: true };
}
