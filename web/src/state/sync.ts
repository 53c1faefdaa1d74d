/** Connects the socket with the store: snapshot first, then events in batches. */
import type { PaneActivity } from "../api/generated";
import { socketUrl } from "../lib/connection";
import type { ServerEvent } from "../lib/protocol";
import { forgetToken, isRefused, token } from "../lib/session";
import { Socket } from "../lib/socket";
import { Details } from "./details";
import * as events from "./events";
import { applyActivity, staleAfter } from "./panes";
import { type AppState, foldEvents, foldList, useApp } from "./store";
import { keepUnread, storedUnread } from "./unread-storage";

/** The events that the lists need; the timeline asks for all. */
const BASE = "pane:*,agent:*,approval:*,session:*,grant:*,server:*,journal:*";
/** Tags and meta change without an event, so the list is read again now and then. */
const LIST_EVERY_MS = 60_000;
/** Events older than this many are not worth replaying for unread marks. */
const MOST_REPLAYED = 5_000;

export const socket = new Socket({
  url: socketUrl(document.baseURI),
  token,
  forgetToken,
  isRefused,
  random: Math.random,
});

export const details = new Details(socket);

let include = BASE;
let batch: ServerEvent[] = [];
let flushing: number | undefined;

const listeners = new Set<(event: ServerEvent) => void>();

/** Hears every event at once, before it is folded; returns the opposite. */
export function onServerEvent(listener: (event: ServerEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Events are folded in batches, so that a burst draws once. */
function flush(): void {
  flushing = undefined;
  const folded = batch;
  batch = [];
  useApp.setState((state) => foldEvents(state, folded));
}

const reader = {
  event(event: ServerEvent): void {
    batch.push(event);
    for (const listener of listeners) listener(event);
    // A hidden tab has no frames.
    if (flushing === undefined) flushing = window.setTimeout(flush, 30);
    const stale = staleAfter(event);
    // The event has all of a new state but the share of the context that is used.
    const isMinor = event.name === "agent:state";
    if (stale && (!isMinor || details.isVisible(stale))) details.refresh(stale);
  },
  activity(printed: readonly PaneActivity[]): void {
    useApp.setState((state) => ({ panes: applyActivity(state.panes, printed) }));
  },
  gap(first: number): void {
    useApp.setState((state) => ({ events: events.gap(state.events, first) }));
    void snapshot();
  },
};

/** Streams all events, for the timeline, or again only those that the lists need. */
export function followAll(all: boolean): void {
  include = all ? "*" : BASE;
  const last = useApp.getState().events.last;
  if (last > 0) socket.follow(include, last, reader);
}

/** Reads the panes and approvals anew. */
async function snapshot(): Promise<void> {
  const [list, open] = await Promise.all([
    socket.call("pane:list", {}),
    // A token without the scope `approve` sees the panes all the same.
    socket.call("approval:list", {}).catch(() => ({ approvals: [] })),
  ]);
  useApp.setState((state) => foldList(state, list, open.approvals));
}

/** The first connection: events from the last one that this device has seen. */
async function begin(): Promise<void> {
  const { lastEvent } = await socket.call("server:status", {});
  const stored = storedUnread();
  const upTo = stored && lastEvent - stored.upTo <= MOST_REPLAYED ? stored.upTo : lastEvent;
  const unread = { marks: stored?.marks ?? {}, upTo: Math.min(upTo, lastEvent) };
  useApp.setState((state) => ({ unread, events: { ...state.events, last: unread.upTo } }));
  await snapshot();
  socket.follow(include, unread.upTo, reader);
}

async function opened(): Promise<void> {
  try {
    if (useApp.getState().events.last === 0) await begin();
    else await snapshot();
  } catch {
    // The connection was lost again; the next one begins anew.
  }
}

function every(ms: number, run: () => void): () => void {
  const timer = window.setInterval(run, ms);
  return () => window.clearInterval(timer);
}

/** Starts everything; returns the opposite. */
export function startSync(): () => void {
  const wake = () => !document.hidden && socket.wake();
  const shown = (event: PageTransitionEvent) => event.persisted && socket.wake();
  const before = { state: "" as AppState["connection"]["state"] | "" };
  const stop = [
    socket.onChange((connection) => {
      const isNew = connection.state === "open" && before.state !== "open";
      before.state = connection.state;
      useApp.setState({ connection });
      if (isNew) void opened();
    }),
    keepUnread(),
    every(LIST_EVERY_MS, () => {
      if (!document.hidden && socket.isOpen()) snapshot().catch(() => {});
    }),
  ];
  window.addEventListener("online", wake);
  window.addEventListener("pageshow", shown);
  document.addEventListener("visibilitychange", wake);
  socket.connect();
  return () => {
    for (const end of stop) end();
    window.removeEventListener("online", wake);
    window.removeEventListener("pageshow", shown);
    document.removeEventListener("visibilitychange", wake);
    socket.disconnect();
  };
}
