import { expect, test } from "vitest";
import type { PaneSearchHit } from "../../api/generated";
import { escapeRegex } from "../../lib/line-pattern";
import { at, paneOf } from "../../state/fixtures";
import { FIRST_LIMITS, fromRoute, sinceTime, toParams, toRoute } from "./query";
import { groupHits, limits, resultRows, summary, widened } from "./results";

const panes = new Map([
  ["a", paneOf("a")],
  ["b", paneOf("b", { status: "exited" })],
]);
const query = (route: string) => fromRoute(new URLSearchParams(route));
const hit = (paneId: string, n: number, minute: number): PaneSearchHit => ({
  paneId,
  n,
  offset: n * 10,
  time: at(minute),
  text: `line ${n}`,
  matches: [[0, 4]],
});
const answer = { hits: [], panes: 9, truncated: false, timedOut: false };

test("a query survives the route", () => {
  const route = "q=a%2Bb&re=1&case=1&pane=a&since=1h&ended=0";
  expect(toRoute(query(route))).toBe(`/find?${route}`);
  expect(toRoute(query("since=nonsense"))).toBe("/find");
});

test("text is matched literally unless it is a regular expression", () => {
  expect(toParams(query("q=a.b"), panes, FIRST_LIMITS)?.pattern).toBe("a\\.b");
  expect(toParams(query("q=a.b&re=1"), panes, FIRST_LIMITS)?.pattern).toBe("a.b");
  expect(
    new RegExp(escapeRegex("[x] (1+1)? a|b $ ^ {2} \\"), "").test("[x] (1+1)? a|b $ ^ {2} \\"),
  ).toBe(true);
});

test("without ended panes, the living ones are named", () => {
  expect(toParams(query("q=x"), panes, FIRST_LIMITS)?.panes).toBeUndefined();
  expect(toParams(query("q=x&ended=0"), panes, FIRST_LIMITS)?.panes).toEqual(["a"]);
  expect(toParams(query("q=x&ended=0"), new Map(), FIRST_LIMITS)).toBeNull();
  expect(toParams(query("q=x&pane=b&ended=0"), panes, FIRST_LIMITS)?.panes).toEqual(["b"]);
  expect(toParams(query("q="), panes, FIRST_LIMITS)).toBeNull();
});

test("hits are grouped by pane, the newest first, and older ones left out", () => {
  const hits = [hit("a", 9, 1), hit("a", 3, 0), hit("b", 7, 5)];
  const order = (since: number) =>
    groupHits(hits, since).map((group) => [group.paneId, ...group.hits.map(({ n }) => n)]);
  expect(order(0)).toEqual([
    ["b", 7],
    ["a", 9, 3],
  ]);
  expect(order(Date.parse(at(1)))).toEqual([
    ["b", 7],
    ["a", 9],
  ]);
  expect(sinceTime("", 5)).toBe(0);
  expect(sinceTime("10m", 600_000)).toBe(0);
});

test("many hits of one pane are folded, so that other panes are seen", () => {
  const hits = Array.from({ length: 20 }, (_, n) => hit("a", n, 2)).concat(hit("b", 1, 1));
  const groups = groupHits(hits, 0);
  const kinds = (unfolded: string[]) =>
    resultRows(groups, new Set(unfolded))
      .map((row) => row.kind)
      .join(" ");
  expect(kinds([])).toBe("pane hit hit hit hit hit more pane hit");
  expect(
    kinds(["a"])
      .split(" ")
      .filter((kind) => kind === "hit"),
  ).toHaveLength(21);
  const folded = resultRows(groups, new Set()).find((row) => row.kind === "more");
  expect(folded).toMatchObject({ paneId: "a", hidden: 15 });
});

test("panes that were hidden by others are added", () => {
  const first = { ...answer, hits: [hit("a", 1, 9)], truncated: true };
  const second = { ...answer, hits: [hit("b", 1, 2)], panes: 8 };
  const both = widened(first, second);
  expect(both.hits).toHaveLength(2);
  expect(both).toMatchObject({ panes: 9, truncated: true });
});

test("limits are said in words", () => {
  const groups = groupHits([hit("a", 1, 0)], 0);
  expect(summary(groups, answer, 180)).toBe("1 hit in 1 of 9 panes, 0.2 s");
  expect(summary(groups, { ...answer, truncated: true }, 2_040)).toContain("The newest 1 hit");
  expect(limits(answer)).toBeNull();
  expect(limits({ ...answer, timedOut: true })).toContain("Time ran out after 9 whole panes");
});
