/** What happened to each pane while nobody watched, from the events of that time. Pure. */
import type { ServerEvent } from "../../lib/protocol";
import type { LogEntry } from "../../state/events";
import { NEEDS, type Need, type TriageRow } from "../../state/needs";

/** When the page was left. */
export interface Departure {
  /** The newest event that was known. */
  eventId: number;
  /** Milliseconds since 1970. */
  at: number;
}

export interface AwayLine {
  paneId: string;
  /** The pane as it is now; none if it was removed. */
  row: TriageRow | null;
  text: string;
}

export interface Digest {
  lines: readonly AwayLine[];
  /** Events of that time that are no longer stored. */
  missing: number;
  /** `1 asks, 2 finished, 1 failed`. */
  summary: string;
}

interface PaneHistory {
  started: boolean;
  turns: number;
  failures: number;
  end: string | null;
  failed: boolean;
  removed: boolean;
}

/** Summarises the events after a departure and up to the return. */
export function digest(
  entries: readonly LogEntry[],
  rows: readonly TriageRow[],
  left: Departure,
  returnedAt: number,
): Digest {
  const histories = new Map<string, PaneHistory>();
  let missing = 0;
  for (const entry of entries) {
    if (entry.kind === "gap") {
      missing += Math.max(0, entry.to - Math.max(entry.from, left.eventId + 1) + 1);
    } else if (entry.event.id > left.eventId && Date.parse(entry.event.time) <= returnedAt) {
      note(histories, entry.event);
    }
  }
  const byId = new Map(rows.map((row) => [row.pane.id, row]));
  const lines = [...histories].flatMap(([paneId, history]) => {
    const row = byId.get(paneId) ?? null;
    const text = words(history, row);
    return text ? [{ paneId, row, text, history }] : [];
  });
  lines.sort((a, b) => rank(a.row) - rank(b.row) || (a.paneId < b.paneId ? -1 : 1));
  return { lines, missing, summary: summarise(lines) };
}

function note(histories: Map<string, PaneHistory>, { name, payload }: ServerEvent): void {
  const paneId = payload?.paneId ?? (name === "pane:created" ? payload?.id : null);
  if (typeof paneId !== "string") return;
  const before = histories.get(paneId) ?? {
    started: false,
    turns: 0,
    failures: 0,
    end: null,
    failed: false,
    removed: false,
  };
  histories.set(paneId, { ...before, ...changeOf(before, name, payload) });
}

function changeOf(
  history: PaneHistory,
  name: string,
  payload: ServerEvent["payload"],
): Partial<PaneHistory> {
  switch (name) {
    case "pane:created":
      return { started: true, end: null, failed: false, removed: false };
    case "agent:state":
      if (payload.to === "error") return { failures: history.failures + 1 };
      if (payload.to === "ready" && ["busy", "blocked", "limited"].includes(payload.from))
        return { turns: history.turns + 1 };
      return {};
    case "pane:exited":
      return endOf(payload);
    case "pane:lost":
      return { end: "was lost", failed: true };
    case "pane:removed":
      return { removed: true };
    default:
      return {};
  }
}

function endOf(payload: ServerEvent["payload"]): Partial<PaneHistory> {
  if (payload.timedOut) return { end: "timed out", failed: true };
  if (payload.status === "killed") return { end: "was killed", failed: false };
  if (payload.exitSignal) return { end: `ended by ${payload.exitSignal}`, failed: true };
  if (payload.exitCode) return { end: `failed with exit ${payload.exitCode}`, failed: true };
  return { end: "ended with exit 0", failed: false };
}

function words(history: PaneHistory, row: TriageRow | null): string {
  const parts: string[] = [];
  if (history.started) parts.push("started");
  if (history.turns === 1) parts.push("finished a turn");
  if (history.turns > 1) parts.push(`finished ${history.turns} turns`);
  if (history.failures > 0) parts.push("reported an error");
  if (history.end) parts.push(history.end);
  if (history.removed) parts.push("was removed");
  if (row?.need === "needs-you") parts.push(`asks: ${question(row)}`);
  else if (row?.need === "limited") parts.push("is limited");
  return parts.join(", ");
}

function question(row: TriageRow): string {
  const text = row.approval?.subject ?? row.pane.agent?.dialog?.text ?? row.state.word;
  return text.trim().split("\n")[0] ?? "";
}

const rank = (row: TriageRow | null) => (row ? NEEDS.indexOf(row.need) : NEEDS.length);

function summarise(lines: readonly (AwayLine & { history: PaneHistory })[]): string {
  const needs = (need: Need) => lines.filter((line) => line.row?.need === need).length;
  const failed = lines.filter(({ history }) => history.failed || history.failures > 0).length;
  const done = lines.filter(
    ({ history }) => history.turns > 0 || (history.end !== null && !history.failed),
  ).length;
  const parts = [
    needs("needs-you") > 0 && `${needs("needs-you")} ${needs("needs-you") === 1 ? "asks" : "ask"}`,
    done > 0 && `${done} finished`,
    failed > 0 && `${failed} failed`,
  ].filter(Boolean);
  return parts.join(", ") || `${lines.length} changed`;
}
