/** The output of one pane, resumed by offset over any number of connections. */
import type { PaneStatus, Size, WsRequest } from "../api/generated";
import { type CallError, hasCode } from "./errors";
import type { BinaryFrame, ChannelExit, Subscribed } from "./protocol";

export interface ChannelOpening {
  size: Size;
  status: PaneStatus;
  createdAt: string;
  /** Where its output begins. */
  offset: number;
  /** Whether it continues after what the reader has consumed. */
  resumed: boolean;
}

/** What a channel tells its reader. */
export interface ChannelReader {
  /** The channel is open. A resumed one continues where `consumed` stood; others begin anew. */
  opened(opening: ChannelOpening): void;
  /** Bytes that draw the whole screen on a new terminal. */
  screen(bytes: Uint8Array, offset: number): void;
  output(bytes: Uint8Array, offset: number): void;
  /** These bytes are no longer kept; a screen follows. */
  gap(from: number, to: number): void;
  exit(exit: ChannelExit): void;
  /** The pane of this life is gone, or a newer one has its name. */
  gone(error: CallError): void;
  failed(error: CallError): void;
}

export interface ChannelOptions {
  /** The life to read; without it the present one. */
  createdAt?: string;
  /** Rows of scrollback before the screen. */
  history?: number;
}

/** Bytes that the server sends ahead of `consumed`. */
const WINDOW = 1_572_864;

/** What a channel needs of the socket. */
export interface ChannelPort {
  request(message: WsRequest): Promise<unknown>;
  isOpen(): boolean;
  bind(id: number, channel: Channel): void;
  release(id: number): void;
  forget(channel: Channel): void;
}

export class Channel {
  readonly pane: string;
  readonly #port: ChannelPort;
  readonly #reader: ChannelReader;
  #createdAt: string | undefined;
  #history: number;
  /** Where to resume: after the last byte that the reader has consumed; `null` for a screen. */
  #consumed: number | null = null;
  #began = 0;
  #received = 0;
  #id: number | null = null;
  /** Rises with each subscription, so that answers to older ones are ignored. */
  #turn = 0;
  #ended = false;

  constructor(port: ChannelPort, pane: string, reader: ChannelReader, options: ChannelOptions) {
    this.#port = port;
    this.pane = pane;
    this.#reader = reader;
    this.#createdAt = options.createdAt;
    this.#history = options.history ?? 0;
  }

  /** Bytes that have arrived and are not consumed yet. */
  get behind(): number {
    return this.#received - (this.#consumed ?? this.#began);
  }

  /** Subscribes on a new connection. */
  attach(): void {
    if (this.#ended) return;
    this.#id = null;
    const turn = ++this.#turn;
    const since = this.#consumed ?? "screen";
    const history = since === "screen" && this.#history > 0 ? { history: this.#history } : {};
    const createdAt = this.#createdAt ? { createdAt: this.#createdAt } : {};
    const message: WsRequest = {
      type: "subscribe",
      pane: this.pane,
      since,
      window: WINDOW,
      ...createdAt,
      ...history,
    };
    this.#port.request(message).then(
      (answer) => this.#opened(answer as Subscribed, turn, since !== "screen"),
      (error: CallError) => turn === this.#turn && this.#refused(error),
    );
  }

  /** The reader has parsed everything before `offset`. */
  consumed(offset: number): void {
    if (this.#consumed !== null && offset <= this.#consumed) return;
    this.#consumed = offset;
    if (this.#id === null || !this.#port.isOpen()) return;
    this.#port.request({ type: "ack", channel: this.#id, offset }).catch(() => {});
  }

  /** Drops what has not been consumed and begins anew with a screen. */
  restart(): void {
    this.#unsubscribe();
    this.#consumed = null;
    if (this.#port.isOpen()) this.attach();
  }

  close(): void {
    this.#ended = true;
    this.#turn++;
    this.#unsubscribe();
    this.#port.forget(this);
  }

  frame(frame: BinaryFrame): void {
    if (frame.kind === "screen") {
      this.#received = frame.offset;
      this.#reader.screen(frame.bytes, frame.offset);
      return;
    }
    this.#received = frame.offset + frame.bytes.length;
    this.#reader.output(frame.bytes, frame.offset);
  }

  gap(from: number, to: number): void {
    this.#reader.gap(from, to);
    this.restart();
  }

  exit(exit: ChannelExit): void {
    this.#id = null;
    this.#ended = true;
    this.#reader.exit(exit);
  }

  refused(error: CallError): void {
    this.#id = null;
    this.#refused(error);
  }

  #opened(answer: Subscribed, turn: number, resumed: boolean): void {
    if (turn !== this.#turn) {
      this.#port.request({ type: "unsubscribe", channel: answer.channel }).catch(() => {});
      return;
    }
    this.#id = answer.channel;
    this.#port.bind(answer.channel, this);
    this.#createdAt = answer.createdAt;
    if (!resumed) this.#consumed = null;
    this.#began = answer.offset;
    this.#received = answer.offset;
    const { size, status, createdAt, offset } = answer;
    this.#reader.opened({ size, status, createdAt, offset, resumed });
  }

  #refused(error: CallError): void {
    if (hasCode(error, "unconfirmed") || hasCode(error, "offline")) return;
    if (hasCode(error, "invalid") && this.#history > 0 && this.#consumed === null) {
      // A server without `history` in `subscribe`.
      this.#history = 0;
      this.attach();
      return;
    }
    this.#ended = true;
    if (hasCode(error, "gone") || hasCode(error, "not_found")) this.#reader.gone(error);
    else this.#reader.failed(error);
  }

  #unsubscribe(): void {
    if (this.#id === null) return;
    this.#port.release(this.#id);
    const message: WsRequest = { type: "unsubscribe", channel: this.#id };
    this.#id = null;
    if (this.#port.isOpen()) this.#port.request(message).catch(() => {});
  }
}
