// @vitest-environment jsdom
import { act, useState } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type JsonSchema, type Problems, problemsOf, SchemaForm, type Shape, shapeOf } from ".";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

let root: Root;
let latest: unknown;

beforeEach(() => {
  document.body.innerHTML = "<div></div>";
  root = createRoot(document.body.firstElementChild as Element);
});

afterEach(() => act(() => root.unmount()));

const PANES = [{ id: "fix-42", note: "busy" }, { id: "docs" }];

function Page({ shape, start, errors }: { shape: Shape; start: unknown; errors: Problems }) {
  const [value, setValue] = useState(start);
  latest = value;
  return <SchemaForm {...{ shape, value, errors }} panes={PANES} onChange={setValue} />;
}

function show(schema: JsonSchema, start: unknown = {}, errors: Problems = {}): void {
  act(() => root.render(<Page shape={shapeOf(schema)} start={start} errors={errors} />));
}

/** The control that has this label. */
function control<T extends Element = HTMLInputElement>(label: string): T {
  const labels = [...document.querySelectorAll("label")];
  const found = labels.find((it) => it.textContent?.replace(" required", "") === label);
  const element = document.getElementById(found?.htmlFor ?? "");
  if (!element) throw new Error(`no control ${label} in ${document.body.innerHTML}`);
  return element as unknown as T;
}

function type(element: Element, text: string): void {
  const names = { INPUT: "HTMLInputElement", SELECT: "HTMLSelectElement" } as const;
  const name = names[element.tagName as "INPUT"] ?? "HTMLTextAreaElement";
  const setter = Object.getOwnPropertyDescriptor(window[name].prototype, "value")?.set;
  act(() => {
    setter?.call(element, text);
    const kind = element.tagName === "SELECT" ? "change" : "input";
    element.dispatchEvent(new Event(kind, { bubbles: true }));
  });
}

const click = (element: Element | null | undefined) => act(() => (element as HTMLElement).click());
const button = (name: string) =>
  [...document.querySelectorAll("button")].find(
    (it) => (it.getAttribute("aria-label") ?? it.textContent) === name,
  );

const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: "object",
  properties,
  required,
});

test("an optional text that is cleared is omitted, a required one is empty", () => {
  show(object({ a: { type: "string" }, b: { type: "string" } }, ["b"]));
  type(control("a"), "x");
  type(control("b"), "y");
  expect(latest).toEqual({ a: "x", b: "y" });
  type(control("a"), "");
  type(control("b"), "");
  expect(latest).toEqual({ b: "" });
});

test("a number may be typed digit by digit, and text that is none is a problem", () => {
  show(object({ n: { type: "number" } }));
  for (const text of ["1", "1.", "1.5"]) {
    type(control("n"), text);
    expect(control("n").value).toBe(text);
  }
  expect(latest).toEqual({ n: 1.5 });
  type(control("n"), "1.5x");
  expect(control("n").value).toBe("1.5x");
  expect(problemsOf(latest)).toEqual({ n: "This must be a number." });
});

test("a box that is as by default is omitted", () => {
  show(object({ wait: { type: "boolean", default: true } }));
  expect(control("wait").checked).toBe(true);
  click(control("wait"));
  expect(latest).toEqual({ wait: false });
  click(control("wait"));
  expect(latest).toEqual({});
});

test("a pane is chosen from the list, or typed", () => {
  const pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
  show(object({ paneId: { type: "string", pattern } }, ["paneId"]));
  const select = control<HTMLSelectElement>("paneId");
  expect([...select.options].map((option) => option.text)).toContain("fix-42 · busy");
  type(select, "docs");
  expect(latest).toEqual({ paneId: "docs" });
  type(control("paneId"), " other");
  type(control("paneId"), "gone-1");
  expect(latest).toEqual({ paneId: "gone-1" });
});

test("items are added by the button and by Enter, and removed", () => {
  show(object({ argv: { type: "array", items: { type: "string" } } }));
  click(button("Add to argv"));
  type(control("argv[0]"), "sh");
  act(() => {
    const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true });
    control("argv[0]").dispatchEvent(enter);
  });
  type(control("argv[1]"), "-c");
  expect(latest).toEqual({ argv: ["sh", "-c"] });
  click(button("Remove argv[0]"));
  expect(latest).toEqual({ argv: ["-c"] });
  click(button("Remove argv[0]"));
  expect(latest).toEqual({});
});

test("entries of a map are added under their name", () => {
  show(object({ env: { type: "object", additionalProperties: { type: "string" } } }));
  const name = document.querySelector("input[placeholder=Name]") as Element;
  type(name, "PATH");
  click(button("Add to env"));
  type(control("PATH"), "/bin");
  expect(latest).toEqual({ env: { PATH: "/bin" } });
});

test("another kind of value has its own control", () => {
  show(object({ option: { anyOf: [{ type: "integer" }, { type: "string" }] } }, ["option"]));
  const kinds = document.querySelector('select[aria-label="Kind of option"]') as HTMLSelectElement;
  type(kinds, "0");
  type(control("option"), "2");
  expect(latest).toEqual({ option: 2 });
  type(kinds, "1");
  type(control("option"), "2");
  expect(latest).toEqual({ option: "2" });
});

test("an optional object is opened first, and left out again", () => {
  const size = object({ cols: { type: "integer" }, rows: { type: "integer" } }, ["cols", "rows"]);
  show(object({ size }));
  expect(document.body.textContent).not.toContain("cols");
  click(button("Set size"));
  type(control("cols"), "80");
  expect(latest).toEqual({ size: { cols: 80 } });
  click(button("Leave out size"));
  expect(latest).toEqual({});
});

test("JSON with a mistake stays as it was typed, and is a problem", () => {
  show(object({ payload: {} }));
  type(control("payload"), '{"a": ');
  expect(control("payload").value).toBe('{"a": ');
  expect(Object.keys(problemsOf(latest))).toEqual(["payload"]);
  type(control("payload"), '{"a": 1}');
  expect(latest).toEqual({ payload: { a: 1 } });
});

test("many optional fields are folded, and stay where they are while they are typed", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const fields = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  show(object({ id: { type: "string" }, ...fields }, ["id"]));
  const field = control("c");
  expect(field.closest("details")?.open).toBe(false);
  type(field, "x");
  expect(control("c")).toBe(field);
});

test("an error is shown at its field and belongs to it, also when that is folded", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const fields = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  show(object(fields), {}, { g: "`g` is wrong", "": "the whole is wrong" });
  const field = control("g");
  expect(field.closest("details")?.open).toBe(true);
  expect(field.getAttribute("aria-invalid")).toBe("true");
  const note = document.getElementById(field.getAttribute("aria-describedby") ?? "");
  expect(note?.textContent).toBe("`g` is wrong");
  expect(document.querySelector("[role=alert]")?.textContent).toBe("the whole is wrong");
});
