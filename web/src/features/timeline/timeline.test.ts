import { expect, test } from "vitest";
import { append, gap, noEvents } from "../../state/events";
import { eventOf, stateEvent } from "../../state/fixtures";
import { addPage, nothingOlder, type Row, rowsOf } from "./entries";
import { type EventFilter, passes } from "./filter";
import { summary } from "./summary";

const ALL: EventFilter = { name: "", pane: "", text: "" };
const brief = (rows: Row[]) =>
  rows.map((row) => (row.kind === "event" ? row.event.id : `${row.reason} ${row.count}`));

test("events are filtered by name, prefix, pane and text", () => {
  const event = stateEvent(1, "fix-42", "busy", "ready");
  const check = (filter: Partial<EventFilter>) => passes(event, { ...ALL, ...filter });
  expect(check({})).toBe(true);
  expect(check({ name: "agent:state" })).toBe(true);
  expect(check({ name: "agent:*" })).toBe(true);
  expect(check({ name: "agent:stat" })).toBe(false);
  expect(check({ name: "pane:*" })).toBe(false);
  expect(check({ pane: "fix-42" })).toBe(true);
  expect(check({ pane: "fix" })).toBe(false);
  expect(check({ text: "READY" })).toBe(true);
  expect(check({ text: "blocked" })).toBe(false);
});

test("an action on a pane is about that pane", () => {
  const payload = { actionName: "pane:kill", params: { paneId: "ui" } };
  const event = { id: 1, time: "", name: "action:start", payload };
  expect(passes(event, { ...ALL, pane: "ui" })).toBe(true);
});

test("older pages come first, then what came since", () => {
  const live = append(noEvents, [eventOf(10, "a:b", "p"), eventOf(11, "a:b", "p")]).entries;
  let older = nothingOlder(10);
  older = addPage(older, { events: [8, 9].map((id) => eventOf(id, "a:b", "p")), before: 8 });
  older = addPage(older, { events: [eventOf(7, "a:b", "p")], before: 7 });
  expect(brief(rowsOf(older, live, 9, ALL))).toEqual([7, 8, 9, 10, 11]);
});

test("events that are not kept are a gap with their number", () => {
  const start = append(noEvents, [eventOf(1, "a:b", "p")]);
  const live = append(gap(start, 42), [eventOf(42, "a:b", "p")]).entries;
  expect(brief(rowsOf(nothingOlder(1), live, 0, ALL))).toEqual([1, "not-kept 40", 42]);
  const older = addPage(nothingOlder(9), {
    events: [eventOf(8, "a:b", "p")],
    firstAvailable: 8,
  });
  expect(brief(rowsOf(older, [], 8, ALL))).toEqual(["not-kept 7", 8]);
});

test("events that the page has dropped are a gap, too", () => {
  const live = [{ kind: "event" as const, event: eventOf(20, "a:b", "p") }];
  expect(brief(rowsOf(nothingOlder(10), live, 9, ALL))).toEqual(["left-out 10", 20]);
});

test("what the page knew before it was opened comes from the server", () => {
  const live = append(noEvents, [eventOf(5, "a:b", "p"), eventOf(6, "a:b", "p")]).entries;
  expect(brief(rowsOf(nothingOlder(6), live, 5, ALL))).toEqual([6]);
});

test("a line says what changed", () => {
  expect(summary(stateEvent(1, "ui", "busy", "ready"))).toBe("busy → ready");
  expect(summary(eventOf(1, "pane:exited", "ui", { exitCode: 2 }))).toBe("exit 2");
  expect(summary(eventOf(1, "pane:exited", "ui", { exitSignal: "SIGKILL" }))).toBe("SIGKILL");
  expect(summary(eventOf(1, "build:done", "ui", { n: 1, by: "me" }))).toBe("n 1 · by me");
  const error = { actionName: "pane:get", caller: "cli", errorInfo: { error: "no pane" } };
  expect(summary(eventOf(1, "action:error", "ui", error))).toBe("pane:get · by cli · no pane");
  expect(summary({ id: 1, time: "", name: "x:y", payload: null })).toBe("null");
});
