import { expect, test } from "vitest";
import type { PaneInfo } from "../../api/generated";
import { agentPane, paneOf } from "../../state/fixtures";
import { triageAll } from "../../state/needs";
import { replaceAll } from "../../state/panes";
import { noUnread } from "../../state/unread";
import { filterRows } from "./filter";
import { hold } from "./hold";
import { itemsOf, type ListItem } from "./items";

const rowsOf = (...panes: PaneInfo[]) =>
  triageAll(replaceAll(new Map(), panes), new Map(), noUnread);

const shown = (items: readonly ListItem[]) =>
  items.map((item) => {
    if (item.kind === "head") return `${item.label}-${item.count}-${item.needs}`;
    return `${item.row.pane.id}${item.isGone ? " gone" : ""}`;
  });

const asks = agentPane("asks", "blocked");
const busy = agentPane("ui", "busy");
const web = { tags: ["web"] };

test("by need, a group has a head and its rows", () => {
  expect(shown(itemsOf(rowsOf(busy, asks), "need"))).toEqual([
    "Needs you-1-0",
    "asks",
    "Working-1-0",
    "ui",
  ]);
});

test("by tag, heads tell how many of the group need the user", () => {
  const rows = rowsOf(paneOf("db"), { ...busy, ...web }, { ...asks, ...web });
  expect(shown(itemsOf(rows, "tag"))).toEqual(["web-2-1", "asks", "ui", "No tag-1-0", "db"]);
});

test("held rows stay where they are and show what is new", () => {
  const placed = itemsOf(rowsOf(busy, paneOf("db")), "need");
  const fresh = itemsOf(rowsOf(agentPane("ui", "ready"), paneOf("db"), paneOf("new")), "need");
  const held = hold(placed, fresh);
  expect(shown(held.items)).toEqual(["Working-0-0", "ui", "Programs-2-0", "db"]);
  expect(held.items[1]).toMatchObject({ row: { state: { word: "ready" } } });
  expect(held.moved).toBe(2);
});

test("a held row whose pane was removed keeps its place", () => {
  const placed = itemsOf(rowsOf(busy, paneOf("db")), "need");
  const held = hold(placed, itemsOf(rowsOf(paneOf("db")), "need"));
  expect(shown(held.items)).toEqual(["Working-0-0", "ui gone", "Programs-1-0", "db"]);
  expect(held.moved).toBe(1);
});

test("a held row keeps its height when its question is answered", () => {
  const placed = itemsOf(rowsOf(asks), "need");
  const held = hold(placed, itemsOf(rowsOf(agentPane("asks", "busy")), "need"));
  expect(held.items[1]).toMatchObject({ question: 1, row: { need: "busy" } });
});

test("nothing has moved when only details changed", () => {
  const placed = itemsOf(rowsOf(busy), "need");
  expect(hold(placed, itemsOf(rowsOf({ ...busy, title: "x" }), "need")).moved).toBe(0);
});

test("every word of the filter has to be in the pane", () => {
  const rows = rowsOf({ ...busy, tags: ["web"] }, paneOf("db", { cwd: "/srv/web" }));
  const ids = (filter: string) => filterRows(rows, filter).map((row) => row.pane.id);
  expect(ids("web")).toEqual(["ui", "db"]);
  expect(ids("WEB busy")).toEqual(["ui"]);
  expect(ids("codex srv")).toEqual([]);
});
