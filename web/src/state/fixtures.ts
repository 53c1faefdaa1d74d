/** Panes and events for tests, with only what a test is about. */
import type { AgentInfo, ApprovalInfo, PaneInfo } from "../api/generated";
import type { ServerEvent } from "../lib/protocol";

/** The time `minute` minutes after a fixed moment. */
export const at = (minute: number) => new Date(Date.UTC(2026, 10, 18, 12, minute)).toISOString();

export function paneOf(id: string, fields: Partial<PaneInfo> = {}): PaneInfo {
  return {
    id,
    instance: `${id}-1`,
    title: id,
    argv: ["sh"],
    cwd: "/home/ann/api",
    size: { cols: 120, rows: 40 },
    status: "running",
    timedOut: false,
    createdAt: at(0),
    substrate: "pty",
    guarantee: "exact",
    meta: {},
    tags: [],
    persist: false,
    lines: 0,
    bytes: 0,
    dropped: 0,
    ...fields,
  };
}

export function agentOf(state: AgentInfo["state"], since = 0): AgentInfo {
  return { profile: "codex", state, since: at(since), source: "screen", confidence: 1, queued: 0 };
}

export function agentPane(id: string, state: AgentInfo["state"], since = 0): PaneInfo {
  return paneOf(id, { agent: agentOf(state, since) });
}

export function approvalOf(id: string, paneId: string, asked = 0): ApprovalInfo {
  return {
    id,
    kind: "rule",
    status: "open",
    subject: "rm -rf build",
    caller: `pane:${paneId}`,
    paneId,
    askedAt: at(asked),
    waiting: true,
  };
}

export function eventOf(id: number, name: string, paneId: string, more: object = {}): ServerEvent {
  return { id, time: at(id), name, payload: { paneId, instance: `${paneId}-1`, ...more } };
}

export function stateEvent(id: number, paneId: string, from: string, to: string): ServerEvent {
  const more = { from, to, profile: "codex", source: "screen", confidence: 1 };
  return eventOf(id, "agent:state", paneId, more);
}
