import { expect, test } from "vitest";
import { shapeOf } from "./shape";
import { fits, parseJson, parseNumber, problemsOf, RawText, startOf, withField } from "./value";

test("numbers are parsed, and what is none keeps its text", () => {
  expect(parseNumber("", true)).toBeUndefined();
  expect(parseNumber(" 12 ", true)).toBe(12);
  expect(parseNumber("1.5", false)).toBe(1.5);
  expect(parseNumber("1.5", true)).toEqual(new RawText("1.5", "This must be a whole number."));
  expect(parseNumber("12x", false)).toBeInstanceOf(RawText);
});

test("JSON is parsed, and a mistake keeps its text", () => {
  expect(parseJson(" ")).toBeUndefined();
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(parseJson("{")).toBeInstanceOf(RawText);
});

test("problems are found at their path", () => {
  const value = { argv: ["sh", parseNumber("x", true)], env: { A: parseJson("{") }, id: "a" };
  expect(Object.keys(problemsOf(value))).toEqual(["argv[1]", "env.A"]);
  expect(problemsOf({ a: { b: [null] } })).toEqual({});
});

test("a field that is cleared is omitted, one that is set keeps its place", () => {
  expect(withField({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
  expect(Object.keys(withField({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
});

test("an object begins with what has one meaning only", () => {
  const shape = shapeOf({
    type: "object",
    properties: {
      kind: { const: "exit" },
      size: { type: "object", properties: {}, additionalProperties: false },
      name: { type: "string" },
      more: { type: "array", items: {} },
    },
    required: ["kind", "size", "name"],
  });
  expect(startOf(shape)).toEqual({ kind: "exit", size: {} });
});

test("the alternative of a value is found by its constant", () => {
  const kind = (value: string) => ({
    type: "object",
    properties: { kind: { const: value } },
    required: ["kind"],
  });
  const shape = shapeOf({ anyOf: [kind("a"), kind("b")] });
  const variants = shape.kind === "choice" ? shape.variants : [];
  const of = (value: unknown) => variants.map((it) => fits(it.shape, value));
  expect(of({ kind: "b" })).toEqual([false, true]);
  expect(of("b")).toEqual([false, false]);
});
