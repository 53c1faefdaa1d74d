/** Every action of a real server: its form shows each parameter, and makes what its schema accepts. */
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { type JsonSchema, SchemaForm, type Shape, shapeOf } from ".";
import { accepts } from "./accepts.fixture";
import actions from "./actions.fixture.json";

const all = actions as unknown as { name: string; params: JsonSchema }[];

/** A value as a user would fill it in, with every field set. */
function filled(shape: Shape, schema: JsonSchema): unknown {
  switch (shape.kind) {
    case "text":
      return sample(schema);
    case "pane":
      return "fix-42";
    case "number":
      return shape.minimum ?? 1;
    case "boolean":
      return true;
    case "enum":
      return shape.options[0]?.value;
    case "set":
      return shape.options.map((option) => option.value);
    case "list":
      return [filled(shape.item, inner(schema, "items"))];
    case "map":
      return { NAME: filled(shape.value, inner(schema, "additionalProperties")) };
    case "object":
      return Object.fromEntries(
        shape.fields.map(({ name, shape: field }) => [
          name,
          filled(field, (schema.properties?.[name] ?? {}) as JsonSchema),
        ]),
      );
    case "choice":
      return filled(shape.variants[0]?.shape as Shape, first(schema));
    case "json":
      return {};
  }
}

const inner = (schema: JsonSchema, key: string) => (schema[key] ?? {}) as JsonSchema;

function first(schema: JsonSchema): JsonSchema {
  const variant = (schema.anyOf ?? schema.oneOf)?.[0] as JsonSchema | undefined;
  return variant ? first(variant) : schema;
}

const SAMPLES = [
  "fix-42",
  "/tmp",
  "%3",
  "022",
  "a b",
  "main",
  "no",
  "1-1",
  "http://127.0.0.1:8080/",
  "aGk=",
];

function sample({ pattern }: JsonSchema): string {
  const fits = (text: string) => !pattern || new RegExp(pattern).test(text);
  return SAMPLES.find(fits) ?? "2026-11-18T20:42:23Z";
}

describe("the form of each action", () => {
  test.each(all.map(({ name, params }) => [name, params] as const))("%s", (_, params) => {
    const shape = shapeOf(params);
    expect(shape.kind).toBe("object");
    const value = filled(shape, params) as Record<string, unknown>;
    const html = renderToStaticMarkup(
      <SchemaForm shape={shape} value={value} onChange={() => {}} />,
    );
    for (const [name, property] of Object.entries(params.properties ?? {})) {
      expect(html).toContain(`>${name}</span>`);
      expect(accepts(property as JsonSchema, value[name]), name).toBe(true);
    }
  });
});

test("only parameters that may be anything are JSON", () => {
  const json = all.flatMap(({ name, params }) => {
    const shape = shapeOf(params);
    const fields = shape.kind === "object" ? shape.fields : [];
    return fields.filter((it) => it.shape.kind === "json").map((it) => `${name} ${it.name}`);
  });
  expect(json).toEqual([
    "agent:set-state paneId",
    "agent:set-state runtime",
    "agent:set-state sessionId",
    "agent:set-state status",
    "agent:set-state kind",
    "agent:set-state error",
    "agent:set-state event",
    "agent:set-state agent",
    "event:emit payload",
    "pane:set-meta value",
  ]);
});

test("every pane that is named can be chosen", () => {
  const typed = all.flatMap(({ name, params }) => {
    const shape = shapeOf(params);
    const fields = shape.kind === "object" ? shape.fields : [];
    return fields.filter((it) => it.name === "paneId" && it.shape.kind !== "pane").map(() => name);
  });
  expect(typed).toEqual(["agent:set-state"]);
});
