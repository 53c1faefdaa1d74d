import { expect, test } from "vitest";
import type { JsonSchema } from "./schema";
import { type Shape, shapeOf } from "./shape";

/** The shape in a short notation: `{a: text?, b: [number]}`. */
function brief(shape: Shape): string {
  const end = shape.isNullable ? "?" : "";
  switch (shape.kind) {
    case "enum":
    case "set": {
      const options = shape.options.map((option) => option.label).join("|");
      return `${shape.kind}(${options})${end}`;
    }
    case "list":
      return `[${brief(shape.item)}]${end}`;
    case "map":
      return `map(${brief(shape.value)})${end}`;
    case "object": {
      const fields = shape.fields.map((it) => `${it.name}${it.isRequired ? "!" : ""}`);
      const kinds = shape.fields.map((it) => brief(it.shape));
      return `{${fields.map((name, index) => `${name}: ${kinds[index]}`).join(", ")}}${end}`;
    }
    case "choice":
      return `choice(${shape.variants.map((it) => `${it.label}=${brief(it.shape)}`)})${end}`;
    default:
      return shape.kind + end;
  }
}

const check = (schema: JsonSchema | boolean, expected: string, name = "it") =>
  expect(brief(shapeOf(schema, name))).toBe(expected);

test("simple types become their controls", () => {
  check({ type: "string" }, "text");
  check({ type: "integer" }, "number");
  check({ type: "boolean" }, "boolean");
  check({ type: ["string", "null"] }, "text?");
});

test("an enum is a choice of values, written in any of three ways", () => {
  check({ enum: ["a", "b"] }, "enum(a|b)");
  check({ oneOf: [{ const: "a" }, { const: 2 }] }, "enum(a|2)");
  check({ anyOf: [{ oneOf: [{ const: "a" }] }, { type: "null" }] }, "enum(a)?");
});

test("a list of enum values is a set", () => {
  check({ type: "array", items: { enum: ["read", "input"] } }, "set(read|input)");
  check({ type: "array", items: { type: "string" } }, "[text]");
});

test("an object has its fields, a map its values, and one of neither is JSON", () => {
  check(
    { type: "object", properties: { a: { type: "string" }, b: true }, required: ["a"] },
    "{a!: text, b: json}",
  );
  check({ type: "object", additionalProperties: { type: "string" } }, "map(text)");
  check({ type: "object", additionalProperties: true }, "map(json)");
  check({ type: "object", additionalProperties: false }, "{}");
  check({ type: "array", items: { type: "object" } }, "[json]");
});

test("fields of `allOf` join those of the object", () => {
  const more = { properties: { b: { type: "boolean" } }, required: ["b"] };
  check(
    { type: "object", properties: { a: { type: "string" } }, allOf: [more] },
    "{a: text, b!: boolean}",
  );
});

test("types that differ are a choice", () => {
  check({ anyOf: [{ type: "integer" }, { type: "string" }] }, "choice(number=number,text=text)");
  const worktree = {
    anyOf: [
      {
        anyOf: [{ type: "boolean" }, { type: "object", properties: { base: { type: "string" } } }],
      },
      { type: "null" },
    ],
  };
  check(worktree, "choice(yes or no=boolean,with options={base: text})?");
});

test("references are followed, also to the schema itself", () => {
  const schema: JsonSchema = {
    $ref: "#/$defs/node",
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  };
  const shape = brief(shapeOf(schema));
  expect(shape.startsWith("{next: {next: {next: ")).toBe(true);
  expect(shape).toContain("json");
  check({ $ref: "#/$defs/missing" }, "json");
  check({ $ref: "#" }, "json");
});

test("a parameter that names a pane is a pane; the id of a new one is not", () => {
  const schema = { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" };
  check(schema, "pane", "paneId");
  check({ type: "array", items: schema }, "[pane]", "panes");
  check(schema, "text", "id");
});

test("what is unknown is JSON", () => {
  for (const schema of [true, false, {}, { type: ["string", "object"] }, { not: {} }]) {
    check(schema, "json");
  }
  check({ anyOf: [{ required: ["a"] }, { required: ["b"] }] }, "json");
});
