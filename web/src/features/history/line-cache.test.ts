import { expect, test } from "vitest";
import type { OutputLine } from "../../api/generated";
import {
  baseFor,
  firstMissing,
  type LineCache,
  lineAt,
  MOST_ROWS,
  noLines,
  PAGE,
  withCounts,
  withLines,
} from "./line-cache";

const lines = (from: number, to: number, open = false): OutputLine[] =>
  Array.from({ length: to - from }, (_, index) => ({
    n: from + index,
    text: `line ${from + index}`,
    ...(open && from + index === to - 1 ? { open } : {}),
  }));
const cache = (total: number, dropped = 0): LineCache => withCounts(noLines, { total, dropped });

test("lines are found by their number", () => {
  const read = withLines(cache(1_000), lines(200, 400));
  expect(lineAt(read, 399)?.text).toBe("line 399");
  expect(lineAt(read, 400)).toBeNull();
});

test("missing lines are read from the start of their page, or from where it was cut", () => {
  const empty = cache(1_000);
  expect(firstMissing(empty, 250, 300)).toBe(200);
  const cut = withLines(empty, lines(200, 230));
  expect(firstMissing(cut, 225, 300)).toBe(230);
  const whole = withLines(cut, lines(230, 400));
  expect(firstMissing(whole, 200, 400)).toBeNull();
  expect(firstMissing(whole, 200, 401)).toBe(400);
  expect(firstMissing(whole, 990, 1_100)).toBe(800);
});

test("lines that are no longer kept are not asked for", () => {
  const dropped = cache(1_000, 650);
  expect(firstMissing(dropped, 0, 660)).toBe(650);
  const read = withLines(dropped, lines(650, 800));
  expect(lineAt(read, 655)?.n).toBe(655);
  expect(firstMissing(read, 0, 800)).toBeNull();
});

test("a line without an end is read again when more is printed", () => {
  const read = withLines(cache(10), lines(0, 10, true));
  expect(firstMissing(read, 0, 10)).toBeNull();
  const more = withCounts(read, { total: 12, dropped: 0 });
  expect(firstMissing(more, 0, 12)).toBe(9);
  expect(lineAt(withLines(more, lines(9, 12)), 11)?.text).toBe("line 11");
});

test("pages that were dropped are forgotten, and so are those far away", () => {
  const read = withLines(cache(1_000), lines(0, 400));
  const later = withCounts(read, { total: 2_000, dropped: 300 });
  expect([...later.pages.keys()]).toEqual([1]);
  let many = cache(100_000);
  for (let page = 0; page < 80; page += 1)
    many = withLines(many, lines(page * PAGE, (page + 1) * PAGE));
  expect(many.pages.size).toBe(60);
  expect(many.pages.has(79)).toBe(true);
  expect(many.pages.has(0)).toBe(false);
});

test("the list begins at the first kept line, or so that the line is in it", () => {
  expect(baseFor({ total: 1_000, dropped: 100 }, 500)).toBe(100);
  const total = 3 * MOST_ROWS;
  expect(baseFor({ total, dropped: 7 }, 20)).toBe(7);
  expect(baseFor({ total, dropped: 7 }, MOST_ROWS)).toBe(MOST_ROWS / 2);
  expect(baseFor({ total, dropped: 7 }, total)).toBe(total - MOST_ROWS);
});
