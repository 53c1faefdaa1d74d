/** The rows of the timeline: older pages, then what has come since it was opened. Pure. */

import type { ServerEvent } from "../../lib/protocol";
import type { LogEntry } from "../../state/events";
import { type EventFilter, passes } from "./filter";

/** An answer of `event:list`. */
export interface EventPage {
  /** Oldest first. */
  events: ServerEvent[];
  before?: number;
  firstAvailable?: number;
}

/** Pages before an event, read backwards. */
export interface Older {
  events: readonly ServerEvent[];
  /** Where the next page ends; `null` when everything that is kept was read. */
  before: number | null;
  /** Events before this one are not kept. */
  firstKept: number;
}

export type Row =
  | { kind: "event"; key: string; event: ServerEvent }
  /** Events that are not here, and why. */
  | { kind: "gap"; key: string; count: number; reason: "not-kept" | "left-out" };

export const nothingOlder = (before: number): Older => ({ events: [], before, firstKept: 1 });

export function addPage(older: Older, page: EventPage): Older {
  return {
    events: [...page.events, ...older.events],
    before: page.before ?? null,
    firstKept: page.firstAvailable ?? older.firstKept,
  };
}

/** All rows that the filter lets through, oldest first. `opened` is the last event before. */
export function rowsOf(
  older: Older,
  live: readonly LogEntry[],
  opened: number,
  filter: EventFilter,
): Row[] {
  const rows: Row[] = [];
  if (older.before === null && older.firstKept > 1) {
    rows.push({ kind: "gap", key: "first", count: older.firstKept - 1, reason: "not-kept" });
  }
  const add = (event: ServerEvent) => {
    if (passes(event, filter)) rows.push({ kind: "event", key: String(event.id), event });
  };
  older.events.forEach(add);
  const fresh = live.filter((entry) => lastOf(entry) > opened);
  const first = fresh[0];
  // The page keeps a limited number of events, and the oldest have made way for newer ones.
  const missing = first ? firstOf(first) - opened - 1 : 0;
  if (missing > 0) {
    rows.push({ kind: "gap", key: "left-out", count: missing, reason: "left-out" });
  }
  for (const entry of fresh) {
    if (entry.kind === "event") add(entry.event);
    else rows.push(gapRow(entry.from, entry.to));
  }
  return rows;
}

const firstOf = (entry: LogEntry) => (entry.kind === "gap" ? entry.from : entry.event.id);
const lastOf = (entry: LogEntry) => (entry.kind === "gap" ? entry.to : entry.event.id);

function gapRow(from: number, to: number): Row {
  return { kind: "gap", key: `gap-${from}`, count: to - from + 1, reason: "not-kept" };
}
