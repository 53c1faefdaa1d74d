import { expect, test } from "vitest";
import { excerpt, segments } from "./matches";

const marked = (text: string, matches: [number, number][]) =>
  segments(text, matches)
    .map((segment) => (segment.isHit ? `[${segment.text}]` : segment.text))
    .join("");

test("a text is cut at its matches", () => {
  expect(
    marked("one two two", [
      [4, 7],
      [8, 11],
    ]),
  ).toBe("one [two] [two]");
  expect(marked("all", [[0, 3]])).toBe("[all]");
  expect(marked("none", [])).toBe("none");
  expect(segments("", [])).toEqual([]);
});

test("positions count characters, not UTF-16 units", () => {
  expect(marked("🦀🦀 panic", [[3, 8]])).toBe("🦀🦀 [panic]");
});

test("an empty match marks nothing, and overlaps are not repeated", () => {
  expect(marked("abc", [[1, 1]])).toBe("abc");
  expect(
    marked("abcd", [
      [0, 3],
      [2, 4],
    ]),
  ).toBe("[abc][d]");
});

test("a match far to the right is moved into view", () => {
  const text = `${"x".repeat(100)}panic!`;
  const cut = excerpt(text, [[100, 105]], 20);
  expect(cut.text).toBe(`…${"x".repeat(20)}panic!`);
  expect(segments(cut.text, cut.matches)[1]).toEqual({ text: "panic", isHit: true });
  expect(excerpt("short panic", [[6, 11]], 20).text).toBe("short panic");
});
