import { expect, test } from "vitest";
import { literalMatches, patternOf, patternParams, patternQuery } from "./line-pattern";

const pattern = (query: string) => patternOf(new URLSearchParams(query));

test("a pattern survives a route", () => {
  expect(patternQuery(pattern("q=a.b&re=1&case=1"))).toEqual({ q: "a.b", re: "1", case: "1" });
  expect(patternQuery(pattern("q=x"))).toEqual({ q: "x", re: null, case: null });
  expect(patternParams(pattern("q=a.b&case=1"))).toEqual({ pattern: "a\\.b", ignoreCase: false });
});

test("text is found by characters, and regular expressions are left to the server", () => {
  expect(literalMatches("Panic, panic", pattern("q=panic"))).toEqual([
    [0, 5],
    [7, 12],
  ]);
  expect(literalMatches("Panic, panic", pattern("q=panic&case=1"))).toEqual([[7, 12]]);
  expect(literalMatches("🦀 ab", pattern("q=ab"))).toEqual([[2, 4]]);
  expect(literalMatches("aaa", pattern("q=aa"))).toEqual([[0, 2]]);
  expect(literalMatches("abc", pattern("q=b&re=1"))).toEqual([]);
});
