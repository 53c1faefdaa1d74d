import { expect, test } from "vitest";
import type { Code } from "../../api/generated";
import { CallError } from "../../lib/errors";
import { problemsOfRefusal } from "./refusal";
import { shapeOf } from "./shape";

const text = { type: "string" };
const shape = shapeOf({
  type: "object",
  properties: {
    paneId: text,
    argv: { type: "array", items: text },
    cwd: text,
    env: { type: "object", additionalProperties: text },
    size: { type: "object", properties: { cols: text, rows: text } },
    scopes: { type: "array", items: { enum: ["read"] } },
    wait: { anyOf: [{ type: "boolean" }, { type: "object", properties: { ms: text } }] },
  },
});

/** Where a refusal is shown. */
function at(sentence: string, details?: unknown, code: Code = "invalid"): string {
  const problems = problemsOfRefusal(new CallError(code, sentence, details), shape);
  const path = Object.keys(problems)[0] ?? "nowhere";
  expect(problems[path]).toBe(sentence);
  return path;
}

test("a refusal is shown at the field that its path names", () => {
  expect(at("`env.A` must be a string, not 3", { path: "env.A" })).toBe("env.A");
  expect(at("`argv[1]` must be a string", { path: "argv[1]" })).toBe("argv[1]");
  expect(at("`wait.ms` must be a string", { path: "wait.ms" })).toBe("wait.ms");
  expect(at("invalid value `x`", { path: "scopes[0]" })).toBe("scopes");
});

test("a missing parameter is shown where it is missing", () => {
  expect(at("missing parameter `paneId`", { path: "." })).toBe("paneId");
  expect(at("`size`: missing field `rows`", { path: "size" })).toBe("size.rows");
});

test("without a path the first name in the sentence counts", () => {
  expect(at("`cwd` must be an absolute path, not `rel`")).toBe("cwd");
  expect(at("no pane `nope`", { field: "paneId" }, "not_found")).toBe("paneId");
});

test("what no field stands for is shown above the form", () => {
  expect(at("a pane cannot be 1x3")).toBe("");
  expect(at("unknown parameter `x`", { path: "x" })).toBe("");
  expect(at("pass what to wait for: `pattern`")).toBe("");
  expect(at("no such program `cwd`", undefined, "not_found")).toBe("");
});
