/** The state of the page: server events fold into it, components select from it. */
import { create } from "zustand";
import type { ApprovalInfo, PaneInfo } from "../api/generated";
import type { Connection } from "../lib/connection";
import type { ServerEvent } from "../lib/protocol";
import * as approvals from "./approvals";
import * as events from "./events";
import { needing, type TriageRow, triageAll } from "./needs";
import * as panes from "./panes";
import * as receipts from "./receipts";
import * as unread from "./unread";

export interface AppState {
  connection: Connection;
  /** Whether the list of panes has arrived once. */
  isLoaded: boolean;
  panes: panes.Panes;
  approvals: approvals.Approvals;
  unread: unread.Unread;
  events: events.EventLog;
  receipts: receipts.Receipts;
}

export const emptyState: AppState = {
  connection: { state: "connecting", attempt: 0 },
  isLoaded: false,
  panes: panes.noPanes,
  approvals: approvals.noApprovals,
  unread: unread.noUnread,
  events: events.noEvents,
  receipts: receipts.noReceipts,
};

export const useApp = create<AppState>(() => emptyState);

/** Folds a batch of server events into the state. Pure. */
export function foldEvents(state: AppState, batch: readonly ServerEvent[]): AppState {
  const next = { ...state, events: events.append(state.events, batch) };
  for (const event of batch) {
    next.panes = panes.applyEvent(next.panes, event);
    next.approvals = approvals.applyEvent(next.approvals, event);
    next.unread = unread.applyEvent(next.unread, event);
    next.receipts = receipts.applyEvent(next.receipts, event);
  }
  return next;
}

/** Takes a whole list of panes. Pure. */
export function foldList(
  state: AppState,
  list: readonly PaneInfo[],
  open: readonly ApprovalInfo[],
): AppState {
  const instances = new Set(list.map((pane) => pane.instance));
  return {
    ...state,
    isLoaded: true,
    panes: panes.replaceAll(state.panes, list),
    approvals: approvals.fromList(open),
    unread: unread.retain(state.unread, instances),
  };
}

type Inputs = Pick<AppState, "panes" | "approvals" | "unread">;

let last: { inputs: Inputs; rows: TriageRow[] } | null = null;

/** All panes in the order of triage; the same array as long as nothing has changed. */
export function triageRows(state: Inputs): TriageRow[] {
  const isSame =
    last?.inputs.panes === state.panes &&
    last.inputs.approvals === state.approvals &&
    last.inputs.unread.marks === state.unread.marks;
  if (!last || !isSame) {
    const rows = triageAll(state.panes, state.approvals, state.unread);
    last = { inputs: state, rows };
  }
  return last.rows;
}

export const useTriageRows = () => useApp(triageRows);

/** How many panes need the user. */
export const useNeedCount = () => useApp((state) => needing(triageRows(state)).length);

export const usePane = (id: string) => useApp((state) => state.panes.get(id) ?? null);
