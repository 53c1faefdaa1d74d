/**
 * Which notifications to show and to take back: questions that have waited five seconds unwatched,
 * and panes that the user wants to be told about. Pure: the time is an argument.
 */
import type { TriageRow } from "./needs";

/** A question is not worth an interruption when it is answered at once. */
export const PATIENCE_MS = 5_000;
/** So many notifications within `BURST_MS` become one. */
const BURST = 3;
const BURST_MS = 30_000;
const MANY = "many";

export interface Alert {
  /** Replaces and closes notifications; the id of the question. */
  tag: string;
  title: string;
  body: string;
  /** The pane to open; the list if there are several. */
  paneId: string | null;
}

export type AlertCommand = { type: "show"; alert: Alert } | { type: "close"; tag: string };

export interface Alerts {
  /** Questions by tag: since when they wait unwatched, in milliseconds since 1970. */
  waiting: ReadonlyMap<string, number>;
  /** Questions that the user has seen, or was notified of. */
  known: ReadonlySet<string>;
  /** The tags of notifications that are open, with when they were shown. */
  open: ReadonlyMap<string, number>;
}

export const noAlerts: Alerts = { waiting: new Map(), known: new Set(), open: new Map() };

export interface AlertInput {
  now: number;
  /** Whether the page is visible and focused. */
  isWatched: boolean;
  /** Whether questions alert at all. */
  isOn: boolean;
  rows: readonly TriageRow[];
  /** Instances whose end of work is awaited. */
  awaited: ReadonlySet<string>;
  /** Whether a notification may contain the question. */
  showsText: boolean;
}

export interface AlertStep {
  alerts: Alerts;
  commands: readonly AlertCommand[];
  /** When to look again. */
  deadline: number | null;
  /** Instances that are awaited no longer. */
  ended: readonly string[];
}

export function step(before: Alerts, input: AlertInput): AlertStep {
  const { now, isWatched, rows } = input;
  const asking = new Map(
    rows.filter((row) => row.need === "needs-you").map((row) => [tagOf(row), row]),
  );
  const commands: AlertCommand[] = [];
  const open = new Map(before.open);
  const known = new Set([...before.known].filter((tag) => asking.has(tag)));
  for (const tag of open.keys()) {
    const isDone = tag.startsWith("done ");
    const isGone = tag === MANY ? asking.size === 0 : !isDone && !asking.has(tag);
    if (isGone || isWatched) close(tag, open, commands);
  }
  const waiting = new Map<string, number>();
  const due: TriageRow[] = [];
  for (const [tag, row] of asking) {
    if (known.has(tag)) continue;
    if (isWatched || !input.isOn) {
      if (isWatched) known.add(tag);
      continue;
    }
    const since = before.waiting.get(tag) ?? now;
    if (now - since < PATIENCE_MS) waiting.set(tag, since);
    else due.push(row);
  }
  for (const row of due) {
    known.add(tagOf(row));
    show(questionAlert(row, input.showsText), now, asking.size, open, commands);
  }
  const finished = rows.filter(({ pane, mark, need }) => {
    const hasEnded = pane.status !== "running" && pane.status !== "starting";
    return input.awaited.has(pane.instance) && (hasEnded || (mark !== null && need !== "busy"));
  });
  for (const row of finished)
    if (!isWatched) show(doneAlert(row), now, asking.size, open, commands);
  const deadline = waiting.size > 0 ? Math.min(...waiting.values()) + PATIENCE_MS : null;
  return {
    alerts: { waiting, known, open },
    commands,
    deadline,
    ended: finished.map((row) => row.pane.instance),
  };
}

/** The id of what a row asks. */
function tagOf({ pane, approval, since }: TriageRow): string {
  return `${pane.instance} ${approval?.id ?? pane.agent?.dialog?.id ?? since}`;
}

function close(tag: string, open: Map<string, number>, commands: AlertCommand[]): void {
  open.delete(tag);
  commands.push({ type: "close", tag });
}

/** Shows one; the third of a burst replaces those before it. */
function show(
  alert: Alert,
  now: number,
  asking: number,
  open: Map<string, number>,
  commands: AlertCommand[],
): void {
  const recent = [...open].filter(([, at]) => now - at < BURST_MS).map(([tag]) => tag);
  const isBurst = recent.includes(MANY) || recent.length + 1 >= BURST;
  if (!isBurst) {
    open.set(alert.tag, now);
    commands.push({ type: "show", alert });
    return;
  }
  for (const tag of recent) if (tag !== MANY) close(tag, open, commands);
  open.set(MANY, now);
  const title = asking > 1 ? `${asking} panes need you` : "Several panes have news";
  commands.push({ type: "show", alert: { tag: MANY, title, body: "Open paned", paneId: null } });
}

const MOST_TEXT = 140;

function questionAlert(row: TriageRow, showsText: boolean): Alert {
  const text = row.approval?.subject ?? row.pane.agent?.dialog?.text ?? "";
  const question = text.replace(/\s+/g, " ").trim().slice(0, MOST_TEXT);
  const kind = row.approval ? "approval" : row.state.word;
  const body = showsText && question ? question : `Waiting for an answer: ${kind}`;
  return { tag: tagOf(row), title: `${row.pane.id} needs you`, body, paneId: row.pane.id };
}

function doneAlert({ pane, state }: TriageRow): Alert {
  const tag = `done ${pane.instance}`;
  return { tag, title: `${pane.id} is done`, body: state.word, paneId: pane.id };
}
