/** The latest events, with the gaps between them. Pure. */
import type { ServerEvent } from "../lib/protocol";

/** An event, or the range of those that are not stored. */
export type LogEntry =
  | { kind: "event"; event: ServerEvent }
  | { kind: "gap"; from: number; to: number };

export interface EventLog {
  entries: readonly LogEntry[];
  /** The id of the newest event; a stream resumes after it. */
  last: number;
}

export const MOST_EVENTS = 5_000;

export const noEvents: EventLog = { entries: [], last: 0 };

/** Adds events in the order of their ids; those that are known already are left out. */
export function append(log: EventLog, events: readonly ServerEvent[]): EventLog {
  const fresh = events.filter((event) => event.id > log.last);
  const newest = fresh.at(-1);
  if (!newest) return log;
  const added = fresh.map((event) => ({ kind: "event" as const, event }));
  return { entries: [...log.entries, ...added].slice(-MOST_EVENTS), last: newest.id };
}

/** Events after the newest one and before `first` are not stored. */
export function gap(log: EventLog, first: number): EventLog {
  if (first <= log.last + 1) return log;
  const entry: LogEntry = { kind: "gap", from: log.last + 1, to: first - 1 };
  return { entries: [...log.entries, entry].slice(-MOST_EVENTS), last: first - 1 };
}
