import { expect, test } from "vitest";
import type { PaneInfo } from "../api/generated";
import { type AlertInput, type Alerts, noAlerts, PATIENCE_MS, step } from "./alerts";
import { agentPane } from "./fixtures";
import { triageAll } from "./needs";
import { noUnread } from "./unread";

const rowsOf = (...panes: PaneInfo[]) =>
  triageAll(new Map(panes.map((pane) => [pane.id, pane])), new Map(), noUnread);
const blocked = (...ids: string[]) => rowsOf(...ids.map((id) => agentPane(id, "blocked")));
const input = (fields: Partial<AlertInput>): AlertInput => ({
  now: 0,
  isWatched: false,
  isOn: true,
  rows: [],
  awaited: new Set(),
  showsText: false,
  ...fields,
});
/** Runs the steps one after the other and names the commands of each. */
function run(...steps: Partial<AlertInput>[]): string[] {
  let alerts: Alerts = noAlerts;
  return steps.map((fields) => {
    const { alerts: next, commands } = step(alerts, input(fields));
    alerts = next;
    return commands
      .map((command) => (command.type === "show" ? `+${command.alert.title}` : "-"))
      .join(" ");
  });
}

test("a question alerts once, after it has waited", () => {
  const rows = blocked("a");
  expect(run({ rows }, { rows, now: PATIENCE_MS - 1 }, { rows, now: PATIENCE_MS })).toEqual([
    "",
    "",
    "+a needs you",
  ]);
  expect(run({ rows }, { rows, now: 6_000 }, { rows, now: 60_000 })[2]).toBe("");
  expect(step(noAlerts, input({ rows, now: 100 })).deadline).toBe(100 + PATIENCE_MS);
});

test("a question that was answered at once, or seen, does not alert", () => {
  const rows = blocked("a");
  expect(run({ rows }, { now: 3_000 }, { now: 9_000 })).toEqual(["", "", ""]);
  expect(run({ rows, isWatched: true }, { rows, now: 20_000 }, { rows, now: 40_000 })).toEqual([
    "",
    "",
    "",
  ]);
});

test("a notification is closed when the question is answered anywhere, or the page is looked at", () => {
  const rows = blocked("a");
  const shown = [{ rows }, { rows, now: 6_000 }];
  expect(run(...shown, { now: 7_000 })[2]).toBe("-");
  expect(run(...shown, { rows, now: 7_000, isWatched: true })[2]).toBe("-");
});

test("three within half a minute become one", () => {
  const at = (now: number, ...ids: string[]) => ({ rows: blocked(...ids), now });
  expect(
    run(at(0, "a", "b"), at(6_000, "a", "b"), at(7_000, "a", "b", "c"), at(13_000, "a", "b", "c")),
  ).toEqual(["", "+a needs you +b needs you", "", "- - +3 panes need you"]);
});

test("nothing alerts unless it is wanted", () => {
  const rows = blocked("a");
  expect(run({ rows, isOn: false }, { rows, isOn: false, now: 60_000 })).toEqual(["", ""]);
});

test("the text of a question is only shown if the user wants that", () => {
  const pane = agentPane("a", "blocked");
  const dialog = { id: "d", text: "Delete\n everything?" } as NonNullable<
    PaneInfo["agent"]
  >["dialog"];
  const rows = rowsOf({ ...pane, agent: pane.agent && { ...pane.agent, dialog: dialog ?? null } });
  const bodyOf = (showsText: boolean) => {
    const first = step(noAlerts, input({ rows, showsText }));
    const [command] = step(first.alerts, input({ rows, showsText, now: 6_000 })).commands;
    return command?.type === "show" ? command.alert.body : null;
  };
  expect(bodyOf(false)).not.toContain("Delete");
  expect(bodyOf(true)).toBe("Delete everything?");
});

test("a pane that is awaited is told of once, also when questions do not alert", () => {
  const ready = agentPane("a", "ready");
  const marks = { "a-1": { reason: "done" as const, eventId: 1, time: ready.createdAt } };
  const panes = new Map([["a", ready]]);
  const rows = triageAll(panes, new Map(), { upTo: 1, marks });
  const awaited = new Set(["a-1"]);
  const result = step(noAlerts, input({ rows, awaited, isOn: false }));
  expect(result.commands).toMatchObject([{ type: "show", alert: { title: "a is done" } }]);
  expect(result.ended).toEqual(["a-1"]);
  const working = step(noAlerts, input({ rows: rowsOf(agentPane("a", "busy")), awaited }));
  expect(working.ended).toEqual([]);
});
