/**
 * What ended unseen: a turn, an error, an exit, a bell. Output alone never counts. Keyed by the
 * instance of a pane, so that a new pane of the same name begins as seen. Pure.
 */
import type { ServerEvent } from "../lib/protocol";

export type UnreadReason = "done" | "error" | "exit" | "bell";

export interface UnreadMark {
  reason: UnreadReason;
  eventId: number;
  time: string;
}

export interface Unread {
  /** Every event up to this one has been looked at; older ones never set a mark again. */
  upTo: number;
  marks: Readonly<Record<string, UnreadMark>>;
}

export const noUnread: Unread = { upTo: 0, marks: {} };

export function applyEvent(unread: Unread, event: ServerEvent): Unread {
  if (event.id <= unread.upTo) return unread;
  const next = { ...unread, upTo: event.id };
  const instance = event.payload?.instance;
  if (typeof instance !== "string") return next;
  if (event.name === "pane:removed") return without(next, instance);
  const reason = reasonOf(event);
  if (!reason) return next;
  const kept = unread.marks[instance];
  // A bell adds nothing to a mark that says more.
  if (reason === "bell" && kept) return next;
  const mark = { reason, eventId: event.id, time: event.time };
  return { ...next, marks: { ...next.marks, [instance]: mark } };
}

function reasonOf({ name, payload }: ServerEvent): UnreadReason | null {
  if (name === "pane:exited") return "exit";
  if (name === "pane:bell") return "bell";
  if (name !== "agent:state") return null;
  if (payload.to === "error") return "error";
  const worked = ["busy", "blocked", "limited"].includes(payload.from);
  return worked && payload.to === "ready" ? "done" : null;
}

/** The user has looked at this pane. */
export function markSeen(unread: Unread, instance: string): Unread {
  return unread.marks[instance] ? without(unread, instance) : unread;
}

/** The user wants to come back to it. */
export function markUnread(unread: Unread, instance: string, time: string): Unread {
  const mark: UnreadMark = { reason: "bell", eventId: unread.upTo, time };
  return { ...unread, marks: { ...unread.marks, [instance]: mark } };
}

/** What another tab has seen and found. */
export function merge(ours: Unread, theirs: Unread): Unread {
  const marks: Record<string, UnreadMark> = {};
  for (const [instance, mark] of Object.entries(ours.marks)) {
    if (theirs.marks[instance] || mark.eventId > theirs.upTo) marks[instance] = mark;
  }
  for (const [instance, mark] of Object.entries(theirs.marks)) {
    if (!ours.marks[instance] && mark.eventId > ours.upTo) marks[instance] = mark;
  }
  return { upTo: Math.max(ours.upTo, theirs.upTo), marks };
}

/** Marks of panes that exist no longer are dropped. */
export function retain(unread: Unread, instances: ReadonlySet<string>): Unread {
  const entries = Object.entries(unread.marks).filter(([instance]) => instances.has(instance));
  if (entries.length === Object.keys(unread.marks).length) return unread;
  return { ...unread, marks: Object.fromEntries(entries) };
}

function without(unread: Unread, instance: string): Unread {
  const { [instance]: _, ...marks } = unread.marks;
  return { ...unread, marks };
}
