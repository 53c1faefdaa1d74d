/** Frames of the WebSocket `/ws`: JSON texts and binary output. Pure. */
import type { Code, PaneStatus, Scope, Size } from "../api/generated";

/** A message of this page; `id` is added when it is sent. */
export type ClientMessage = { type: string; [field: string]: unknown };

export interface Subscribed {
  type: "subscribed";
  id?: number;
  channel: number;
  pane: string;
  offset: number;
  size: Size;
  status: PaneStatus;
  createdAt: string;
}

export interface ChannelExit {
  type: "exit";
  channel: number;
  offset: number;
  status: PaneStatus;
  exitCode?: number | null;
  exitSignal?: string | null;
  timedOut: boolean;
  endedAt?: string | null;
}

/** An event of the journal. */
export interface ServerEvent {
  id: number;
  time: string;
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: extensions record events of any shape
  payload: any;
}

/** A pane that has printed since the last such message. */
export interface PaneActivity {
  pane: string;
  instance: string;
  bytes: number;
  lines: number;
  printedAt?: string;
  lastLine?: string;
}

export interface Refusal {
  type: "error";
  id?: number;
  channel?: number;
  error: string;
  code: Code;
  details?: unknown;
}

/** A text frame of the server. */
export type ServerFrame =
  | { type: "welcome"; version: string; protocol: string; scopes: Scope[] }
  | Subscribed
  | ChannelExit
  | Refusal
  | ({ type: "event" } & ServerEvent)
  | { type: "gap"; channel: number; from: number; to: number }
  | { type: "gap"; channel?: undefined; first: number; last: number }
  | { type: "ok"; id: number; answer?: unknown }
  | { type: "activity"; panes: PaneActivity[] }
  | { type: "pong"; id?: number };

/** A binary frame: output from `offset` on, or a screen at `offset`. */
export interface BinaryFrame {
  kind: "output" | "screen";
  channel: number;
  offset: number;
  bytes: Uint8Array;
}

const HEADER = 13;

/** Reads the header; nothing for a kind that this page does not know. */
export function parseBinary(data: ArrayBuffer): BinaryFrame | null {
  if (data.byteLength < HEADER) return null;
  const view = new DataView(data);
  const kind = view.getUint8(0);
  if (kind !== 1 && kind !== 2) return null;
  return {
    kind: kind === 1 ? "output" : "screen",
    channel: view.getUint32(1, true),
    offset: Number(view.getBigUint64(5, true)),
    bytes: new Uint8Array(data, HEADER),
  };
}
