import { expect, test } from "vitest";
import type { ServerEvent } from "../lib/protocol";
import { eventOf, stateEvent } from "./fixtures";
import { applyEvent, markSeen, merge, noUnread, retain, type Unread } from "./unread";

const fold = (...events: ServerEvent[]): Unread => events.reduce(applyEvent, noUnread);
const marks = (unread: Unread) =>
  Object.entries(unread.marks).map(([instance, mark]) => `${instance}:${mark.reason}`);

test("ends of turns, errors, exits and bells set a mark", () => {
  const unread = fold(
    stateEvent(1, "a", "busy", "ready"),
    stateEvent(2, "b", "busy", "error"),
    eventOf(3, "pane:exited", "c"),
    eventOf(4, "pane:bell", "d"),
  );
  expect(marks(unread)).toEqual(["a-1:done", "b-1:error", "c-1:exit", "d-1:bell"]);
});

test("an agent that was started and a question set no mark", () => {
  expect(
    marks(fold(stateEvent(1, "a", "starting", "ready"), stateEvent(2, "b", "busy", "blocked"))),
  ).toEqual([]);
});

test("a mark that was cleared does not come back with the same event", () => {
  const event = stateEvent(1, "a", "busy", "ready");
  const seen = markSeen(fold(event), "a-1");
  expect(marks(applyEvent(seen, event))).toEqual([]);
  expect(marks(applyEvent(seen, stateEvent(2, "a", "busy", "ready")))).toEqual(["a-1:done"]);
});

test("a bell does not replace a mark that says more", () => {
  expect(marks(fold(eventOf(1, "pane:exited", "a"), eventOf(2, "pane:bell", "a")))).toEqual([
    "a-1:exit",
  ]);
});

test("marks end with their pane", () => {
  const exited = fold(eventOf(1, "pane:exited", "a"));
  expect(marks(applyEvent(exited, eventOf(2, "pane:removed", "a")))).toEqual([]);
  expect(marks(retain(exited, new Set(["b-1"])))).toEqual([]);
  expect(retain(exited, new Set(["a-1"]))).toBe(exited);
});

test("what another tab has seen is seen here", () => {
  const ours = fold(eventOf(1, "pane:exited", "a"), eventOf(5, "pane:exited", "b"));
  const theirs = { upTo: 4, marks: {} };
  expect(marks(merge(ours, theirs))).toEqual(["b-1:exit"]);
  const ahead = fold(eventOf(9, "pane:exited", "c"));
  expect(marks(merge(ours, ahead))).toEqual(["c-1:exit"]);
});
