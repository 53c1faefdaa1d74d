import { expect, test } from "vitest";
import type { LogEntry } from "../../state/events";
import { agentPane, at, eventOf, paneOf, stateEvent } from "../../state/fixtures";
import { triageAll } from "../../state/needs";
import { noUnread } from "../../state/unread";
import { digest } from "./digest";

const left = { eventId: 10, at: Date.parse(at(10)) };
const returned = Date.parse(at(60));
const entries = (...events: ReturnType<typeof eventOf>[]): LogEntry[] =>
  events.map((event) => ({ kind: "event", event }));
const rowsOf = (...panes: ReturnType<typeof paneOf>[]) =>
  triageAll(new Map(panes.map((pane) => [pane.id, pane])), new Map(), noUnread);
const lines = (log: LogEntry[], rows = rowsOf(agentPane("a", "ready"))) =>
  digest(log, rows, left, returned).lines.map((line) => `${line.paneId} ${line.text}`);

test("each pane has one line, with all that happened to it", () => {
  const log = entries(
    stateEvent(11, "a", "busy", "ready"),
    stateEvent(12, "a", "ready", "busy"),
    stateEvent(13, "a", "busy", "ready"),
    eventOf(14, "pane:exited", "b", { status: "exited", exitCode: 101 }),
  );
  const rows = rowsOf(agentPane("a", "ready"), paneOf("b", { status: "exited", exitCode: 101 }));
  expect(lines(log, rows)).toEqual(["a finished 2 turns", "b failed with exit 101"]);
  expect(digest(log, rows, left, returned).summary).toBe("1 finished, 1 failed");
});

test("what was known, what came later and what says nothing is left out", () => {
  const log = entries(
    stateEvent(9, "a", "busy", "ready"),
    stateEvent(61, "a", "busy", "ready"),
    eventOf(12, "pane:title", "a", { title: "x" }),
  );
  expect(lines(log)).toEqual([]);
});

test("who asks comes first, with the question", () => {
  const asks = agentPane("z", "blocked");
  const pane = asks.agent
    ? { ...asks, agent: { ...asks.agent, dialog: { text: "Run it?\nls" } } }
    : asks;
  const log = entries(stateEvent(11, "a", "busy", "ready"), stateEvent(12, "z", "busy", "blocked"));
  const rows = rowsOf(agentPane("a", "ready"), pane as ReturnType<typeof paneOf>);
  expect(lines(log, rows)).toEqual(["z asks: Run it?", "a finished a turn"]);
  expect(digest(log, rows, left, returned).summary).toBe("1 asks, 1 finished");
});

test("a pane that was removed still has its line", () => {
  const log = entries(
    eventOf(11, "pane:exited", "gone", { status: "exited", exitCode: 0 }),
    eventOf(12, "pane:removed", "gone"),
  );
  expect(lines(log)).toEqual(["gone ended with exit 0, was removed"]);
});

test("events that are no longer stored are counted", () => {
  const log: LogEntry[] = [{ kind: "gap", from: 5, to: 30 }];
  expect(digest(log, [], left, returned).missing).toBe(20);
});
