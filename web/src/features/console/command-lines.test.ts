import { expect, test } from "vitest";
import { type JsonSchema, shapeOf } from "../../ui/schema-form";
import { curlLine, panedLine, quote } from "./command-lines";

const text = { type: "string" };
const shape = shapeOf({
  type: "object",
  properties: {
    paneId: text,
    graceMs: { type: ["integer", "null"] },
    force: { type: "boolean" },
    argv: { type: "array", items: text },
    env: { type: "object", additionalProperties: text },
    option: { anyOf: [{ type: "integer" }, text] },
    json: { type: "boolean" },
  },
} as JsonSchema);

const check = (params: Record<string, unknown>, expected: string) =>
  expect(panedLine("pane:kill", params, shape)).toBe(`paned action pane:kill ${expected}`.trim());

test("words are quoted for a shell", () => {
  expect(quote("fix-42")).toBe("fix-42");
  expect(quote("")).toBe("''");
  expect(quote("it's $HOME")).toBe(`'it'\\''s $HOME'`);
});

test("parameters are flags", () => {
  check({}, "");
  check({ paneId: "web", force: true }, "--pane-id web --force");
  check({ force: false, graceMs: 10 }, "--force=false --grace-ms=10");
  check({ argv: ["sh", "-c", "a b"] }, "--argv sh --argv=-c --argv 'a b'");
  check({ env: { A: "1" } }, `--env='{"A":"1"}'`);
});

test("a value of any type keeps its type", () => {
  check({ option: 2 }, "--option=2");
  check({ option: "yes" }, "--option=yes");
  check({ option: "2" }, `--option='"2"'`);
});

test("what has no flag is sent as JSON", () => {
  check({ argv: [] }, `--body '{"argv":[]}'`);
  check({ unknown: 1 }, `--body '{"unknown":1}'`);
  check({ json: true }, `--body '{"json":true}'`);
});

test("a program starts in the home folder from both", () => {
  expect(panedLine("pane:new", {}, shape)).toBe("cd && paned action pane:new");
  const params = { cwd: "/tmp" };
  const at = shapeOf({ type: "object", properties: { cwd: text } });
  expect(panedLine("pane:new", params, at)).toBe("paned action pane:new --cwd /tmp");
});

test("curl has the token in a variable", () => {
  expect(curlLine("http://127.0.0.1:7263", "pane:get", { paneId: "it's" })).toBe(
    `curl -sS http://127.0.0.1:7263/action/pane:get \\
  -H "Authorization: Bearer $PANED_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"paneId":"it'\\''s"}'`,
  );
});
