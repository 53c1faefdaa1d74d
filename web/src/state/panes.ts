/** The panes by id, folded from `pane:list` and events. Pure: no fetch, no clock. */
import type { AgentInfo, PaneActivity, PaneInfo } from "../api/generated";
import type { ServerEvent } from "../lib/protocol";

export type Panes = ReadonlyMap<string, PaneInfo>;

export const noPanes: Panes = new Map();

/** A whole list; unchanged panes keep their identity, so that their rows are not drawn again. */
export function replaceAll(panes: Panes, list: readonly PaneInfo[]): Panes {
  const next = new Map<string, PaneInfo>();
  for (const pane of list) next.set(pane.id, keepIfEqual(panes.get(pane.id), pane));
  return next;
}

/** One pane as it is now. */
export function put(panes: Panes, pane: PaneInfo): Panes {
  const kept = keepIfEqual(panes.get(pane.id), pane);
  return kept === panes.get(pane.id) ? panes : new Map(panes).set(pane.id, kept);
}

export function remove(panes: Panes, id: string): Panes {
  if (!panes.has(id)) return panes;
  const next = new Map(panes);
  next.delete(id);
  return next;
}

/** Folds one server event into the panes. */
export function applyEvent(panes: Panes, event: ServerEvent): Panes {
  const pane = panes.get(event.payload?.paneId);
  if (!pane || (event.payload.instance && event.payload.instance !== pane.instance)) return panes;
  if (event.name === "pane:removed" || event.name === "pane:moved") return remove(panes, pane.id);
  const change = changeOf(pane, event);
  return change ? new Map(panes).set(pane.id, { ...pane, ...change }) : panes;
}

function changeOf(pane: PaneInfo, { name, time, payload }: ServerEvent): Partial<PaneInfo> | null {
  switch (name) {
    case "agent:state":
      return { agent: agentOf(pane.agent, payload, time) };
    case "pane:exited":
      return {
        status: payload.status,
        exitCode: payload.exitCode,
        exitSignal: payload.exitSignal ?? null,
        timedOut: payload.timedOut,
        endedAt: time,
        killing: false,
      };
    case "pane:lost":
      return { status: "lost", endedAt: time };
    case "pane:found":
      return { status: "running", endedAt: null };
    case "pane:title":
      return { title: payload.title };
    case "pane:resized":
      return { size: payload.size };
    case "pane:size-held":
      return { sizeHeldBy: payload.holder };
    default:
      return null;
  }
}

function agentOf(
  agent: AgentInfo | null | undefined,
  payload: ServerEvent["payload"],
  time: string,
): AgentInfo {
  return {
    queued: 0,
    ...agent,
    profile: payload.profile,
    state: payload.to,
    kind: payload.kind ?? null,
    dialog: payload.dialog ?? null,
    until: payload.until ?? null,
    since: time,
    source: payload.source,
    confidence: payload.confidence,
  };
}

/** Folds what panes have printed. */
export function applyActivity(panes: Panes, activity: readonly PaneActivity[]): Panes {
  const next = new Map(panes);
  for (const { pane: id, instance, ...printed } of activity) {
    const pane = panes.get(id);
    if (pane?.instance === instance) next.set(id, { ...pane, ...printed });
  }
  return next;
}

const READ_AGAIN = new Set([
  "pane:created",
  "pane:restarted",
  "pane:found",
  "pane:moved",
  "pane:restart-scheduled",
  "pane:restart-cancelled",
  "pane:restart-gave-up",
  "pane:shown",
  "pane:hidden",
  "agent:created",
  "agent:state",
  "agent:delivered",
]);

/** The pane that has to be read again after an event, because the event does not have its change. */
export function staleAfter({ name, payload }: ServerEvent): string | null {
  if (name === "pane:moved") return payload.newId;
  return READ_AGAIN.has(name) ? (payload.paneId ?? null) : null;
}

function keepIfEqual(old: PaneInfo | undefined, pane: PaneInfo): PaneInfo {
  return old && JSON.stringify(old) === JSON.stringify(pane) ? old : pane;
}
