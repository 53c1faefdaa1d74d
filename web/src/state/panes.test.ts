import { expect, test } from "vitest";
import { agentOf, agentPane, at, eventOf, paneOf, stateEvent } from "./fixtures";
import { applyActivity, applyEvent, put, replaceAll, staleAfter } from "./panes";

const some = replaceAll(new Map(), [agentPane("ui", "busy"), paneOf("db")]);

test("a state event changes the agent and keeps what it does not name", () => {
  const busy = put(some, paneOf("ui", { agent: { ...agentOf("busy"), contextPercent: 62 } }));
  const panes = applyEvent(busy, stateEvent(5, "ui", "busy", "ready"));
  expect(panes.get("ui")?.agent).toMatchObject({
    state: "ready",
    since: at(5),
    contextPercent: 62,
  });
});

test("an exit event has the exit code", () => {
  const exit = eventOf(3, "pane:exited", "db", { exitCode: 2, status: "exited", timedOut: false });
  const panes = applyEvent(some, exit);
  expect(panes.get("db")).toMatchObject({ status: "exited", exitCode: 2, endedAt: at(3) });
});

test("an event of another instance changes nothing", () => {
  const old = eventOf(3, "pane:exited", "db", { instance: "db-0", status: "exited" });
  expect(applyEvent(some, old)).toBe(some);
});

test("a removed pane is gone", () => {
  expect([...applyEvent(some, eventOf(4, "pane:removed", "db")).keys()]).toEqual(["ui"]);
});

test("a pane that has not changed keeps its identity", () => {
  const again = replaceAll(some, [agentPane("ui", "busy"), paneOf("db", { title: "x" })]);
  expect(again.get("ui")).toBe(some.get("ui"));
  expect(again.get("db")).not.toBe(some.get("db"));
  expect(put(some, paneOf("db"))).toBe(some);
});

test("panes are read again after events that lack their change", () => {
  expect(staleAfter(eventOf(1, "pane:created", "new"))).toBe("new");
  expect(staleAfter(eventOf(1, "pane:moved", "old", { newId: "old.previous" }))).toBe(
    "old.previous",
  );
  expect(staleAfter(eventOf(1, "pane:resized", "ui"))).toBeNull();
});

test("what a pane printed is that of its instance only", () => {
  const printed = { bytes: 9, lines: 2, lastLine: "done", printedAt: at(1) };
  const panes = applyActivity(some, [
    { pane: "db", instance: "db-1", ...printed },
    { pane: "ui", instance: "ui-0", ...printed },
  ]);
  expect(panes.get("db")).toMatchObject(printed);
  expect(panes.get("ui")).toBe(some.get("ui"));
});
