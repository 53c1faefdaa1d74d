import { expect, test } from "vitest";
import type { ActionInfo } from "../../lib/api";
import { group, isAllowed, search } from "./filter";

const action = (name: string, doc: string): ActionInfo => ({
  name,
  doc,
  scope: "kill",
  kind: "change",
  params: {},
  answer: {},
});

const all = [
  action("agent:list", "List agents."),
  action("pane:close", "End a pane's program and forget the pane."),
  action("pane:list", "List panes."),
];

const names = (text: string) => search(all, text).map((it) => it.name);

test("a search finds names first, then sentences, with every word", () => {
  expect(names("pane")).toEqual(["pane:close", "pane:list"]);
  expect(names("LIST pane")).toEqual(["pane:list"]);
  expect(names("forget")).toEqual(["pane:close"]);
  expect(names("  ")).toHaveLength(3);
  expect(names("nothing")).toEqual([]);
});

test("actions are grouped by their noun", () => {
  expect(group(all).map((it) => [it.noun, it.actions.length])).toEqual([
    ["agent", 1],
    ["pane", 2],
  ]);
});

test("`admin` allows everything", () => {
  const [first] = all as [ActionInfo];
  expect([["admin"], ["kill"], ["read"]].map((scopes) => isAllowed(first, scopes))).toEqual([
    true,
    true,
    false,
  ]);
});
