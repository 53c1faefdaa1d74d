/** Frames of the WebSocket `/ws`: JSON texts and binary output. Pure. */
import type { WsMessage } from "../api/generated";

type FrameOf<Type extends WsMessage["type"]> = Extract<WsMessage, { type: Type }>;

export type Subscribed = FrameOf<"subscribed">;
export type ChannelExit = FrameOf<"exit">;
export type Refusal = FrameOf<"error">;
export type Welcome = FrameOf<"welcome">;

/** An event of the journal, of paned's own or of an extension. */
export interface ServerEvent {
  id: number;
  time: string;
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: extensions record events of any shape
  payload: any;
}

/** A text frame of the server. */
export type ServerFrame = WsMessage | ({ type: "event" } & ServerEvent);

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
