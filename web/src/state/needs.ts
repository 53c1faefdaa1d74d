/**
 * Who needs the user: the one predicate and the one order behind the list, its sections, the badge,
 * the title and "next that needs me". Pure.
 */
import type { ApprovalInfo, PaneInfo } from "../api/generated";
import { type Approvals, oldestOf } from "./approvals";
import { type DisplayState, displayState } from "./display";
import type { Panes } from "./panes";
import type { Unread, UnreadMark } from "./unread";

/** The sections, in their order. */
export const NEEDS = [
  "needs-you",
  "failed",
  "done",
  "limited",
  "unknown",
  "busy",
  "ready",
  "running",
  "exited",
] as const;

export type Need = (typeof NEEDS)[number];

export const NEED_LABELS: Record<Need, string> = {
  "needs-you": "Needs you",
  failed: "Failed, unseen",
  done: "Done, unseen",
  limited: "Limited",
  unknown: "Unknown",
  busy: "Working",
  ready: "Ready",
  running: "Programs",
  exited: "Ended",
};

/** One pane in the order of triage. */
export interface TriageRow {
  pane: PaneInfo;
  state: DisplayState;
  need: Need;
  /** Since when it is in this section. */
  since: string;
  mark: UnreadMark | null;
  approval: ApprovalInfo | null;
}

const latest = new WeakMap<PaneInfo, TriageRow>();

/** Where a pane belongs; the same row as before if nothing has changed. */
export function triage(pane: PaneInfo, approvals: Approvals, unread: Unread): TriageRow {
  const mark = unread.marks[pane.instance] ?? null;
  const approval = oldestOf(approvals, pane.id);
  const before = latest.get(pane);
  if (before && before.mark === mark && before.approval === approval) return before;
  const row = rowOf(pane, approval, mark);
  latest.set(pane, row);
  return row;
}

function rowOf(pane: PaneInfo, approval: ApprovalInfo | null, mark: UnreadMark | null): TriageRow {
  const shown = displayState(pane);
  const need = needOf(shown, approval, mark);
  // An approval of a rule waits while the agent's own screen shows that it is working.
  const asks = approval !== null && shown.kind !== "needs";
  const state = asks ? { kind: "needs" as const, word: "approval", since: shown.since } : shown;
  const since = need === "needs-you" ? earliest(shown, approval) : shown.since;
  return { pane, state, need, since, mark, approval };
}

function needOf(state: DisplayState, approval: ApprovalInfo | null, mark: UnreadMark | null): Need {
  if (approval || state.kind === "needs") return "needs-you";
  switch (state.kind) {
    case "error":
      if (mark) return "failed";
      return state.word === "error" ? "ready" : "exited";
    case "lost":
      return mark ? "failed" : "exited";
    case "killed":
    case "exited":
      return mark && mark.reason !== "bell" ? "done" : "exited";
    case "ready":
      return mark ? "done" : "ready";
    case "limited":
      return "limited";
    case "unknown":
    case "starting":
      return "unknown";
    case "busy":
      return "busy";
    case "running":
      return mark ? "done" : "running";
  }
}

function earliest(state: DisplayState, approval: ApprovalInfo | null): string {
  if (!approval) return state.since;
  return state.kind === "needs" && state.since < approval.askedAt ? state.since : approval.askedAt;
}

/** Needs first; what waits longest is first there, what changed last is first elsewhere. */
export function compare(a: TriageRow, b: TriageRow): number {
  const section = NEEDS.indexOf(a.need) - NEEDS.indexOf(b.need);
  if (section !== 0) return section;
  const time = a.since < b.since ? -1 : a.since > b.since ? 1 : 0;
  const order = a.need === "needs-you" ? time : -time;
  return order || (a.pane.id < b.pane.id ? -1 : 1);
}

/** All panes in the order of triage. */
export function triageAll(panes: Panes, approvals: Approvals, unread: Unread): TriageRow[] {
  return [...panes.values()].map((pane) => triage(pane, approvals, unread)).sort(compare);
}

/** The panes that need the user, longest first. */
export function needing(rows: readonly TriageRow[]): TriageRow[] {
  return rows.filter((row) => row.need === "needs-you");
}

/** The pane to go to next: the one after `current` among those that need the user. */
export function nextNeeding(rows: readonly TriageRow[], current: string | null): string | null {
  const ids = needing(rows).map((row) => row.pane.id);
  const at = current === null ? -1 : ids.indexOf(current);
  return ids[(at + 1) % ids.length] ?? null;
}
