import { expect, test } from "vitest";
import type { PaneInfo } from "../api/generated";
import { agentPane, approvalOf, at, paneOf } from "./fixtures";
import { needing, nextNeeding, triage, triageAll } from "./needs";
import { replaceAll } from "./panes";
import { noUnread, type Unread } from "./unread";

const unreadOf = (...ids: string[]): Unread => {
  const mark = { reason: "done" as const, eventId: 1, time: at(0) };
  return { upTo: 9, marks: Object.fromEntries(ids.map((id) => [`${id}-1`, mark])) };
};

const rowsOf = (
  panes: PaneInfo[],
  unread = noUnread,
  approvals = [] as ReturnType<typeof approvalOf>[],
) => triageAll(replaceAll(new Map(), panes), new Map(approvals.map((it) => [it.id, it])), unread);

test("sections come in the order of need", () => {
  const panes = [
    paneOf("ended", { status: "exited", exitCode: 0, endedAt: at(9) }),
    paneOf("shell"),
    agentPane("ready", "ready"),
    agentPane("busy", "busy"),
    agentPane("unknown", "unknown"),
    agentPane("limited", "limited"),
    agentPane("done", "ready"),
    paneOf("failed", { status: "exited", exitCode: 1, endedAt: at(1) }),
    agentPane("asks", "blocked"),
  ];
  const ids = rowsOf(panes, unreadOf("done", "failed")).map((row) => row.pane.id);
  const order = "asks failed done limited unknown busy ready shell ended";
  expect(ids.join(" ")).toBe(order);
});

test("the one that waits longest comes first, elsewhere the latest change", () => {
  const panes = [
    agentPane("a", "blocked", 5),
    agentPane("b", "blocked", 2),
    agentPane("c", "busy", 1),
    agentPane("d", "busy", 3),
  ];
  expect(rowsOf(panes).map((row) => row.pane.id)).toEqual(["b", "a", "d", "c"]);
});

test("an approval of a rule needs the user while the agent works", () => {
  const [first] = rowsOf([agentPane("z", "busy", 4)], noUnread, [approvalOf("1", "z", 7)]);
  expect(first).toMatchObject({ need: "needs-you", since: at(7), state: { kind: "needs" } });
});

test("what was seen is no longer in the sections of the unseen", () => {
  const failed = paneOf("x", { status: "exited", exitCode: 1 });
  expect(triage(failed, new Map(), unreadOf("x")).need).toBe("failed");
  expect(triage(failed, new Map(), noUnread).need).toBe("exited");
});

test("a busy agent with a mark stays among those that work", () => {
  expect(triage(agentPane("x", "busy"), new Map(), unreadOf("x"))).toMatchObject({ need: "busy" });
});

test("next goes round through those that need the user", () => {
  const rows = rowsOf([
    agentPane("a", "blocked", 1),
    agentPane("b", "blocked", 2),
    agentPane("c", "busy"),
  ]);
  expect(needing(rows)).toHaveLength(2);
  expect(nextNeeding(rows, null)).toBe("a");
  expect(nextNeeding(rows, "a")).toBe("b");
  expect(nextNeeding(rows, "b")).toBe("a");
  expect(nextNeeding(rows, "c")).toBe("a");
  expect(nextNeeding([], "a")).toBeNull();
});
