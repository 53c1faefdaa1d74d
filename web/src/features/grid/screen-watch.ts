/**
 * Keeps the screen of a pane current. A channel that only wakes says that there is output; the
 * screen itself is read from the server, so that the page needs no emulator for a tile. A pane that
 * prints nothing costs nothing.
 */
import type { Actions } from "../../api/generated";
import type { ChannelOptions, ChannelReader } from "../../lib/channel";
import { type CallError, hasCode } from "../../lib/errors";

export type Screen = Actions["pane:screen"]["answer"];

/** What a watch needs of the socket. */
export interface WatchPort {
  open(pane: string, reader: ChannelReader, options: ChannelOptions): WatchChannel;
  read(pane: string): Promise<Screen>;
}

interface WatchChannel {
  restart(): void;
  close(): void;
}

export interface WatchEvents {
  screen(screen: Screen): void;
  failed(error: CallError): void;
}

/** Ten pictures a second are enough to watch, and fewer when the server needs longer. */
const SHORTEST_MS = 100;
const SHARE = 4;

export class ScreenWatch implements ChannelReader {
  readonly #port: WatchPort;
  readonly #pane: string;
  readonly #events: WatchEvents;
  readonly #channel: WatchChannel;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  #isStale = false;
  #isOver = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  #revision: number | null = null;

  constructor(port: WatchPort, pane: string, events: WatchEvents) {
    this.#port = port;
    this.#pane = pane;
    this.#events = events;
    this.#channel = port.open(pane, this, { wakes: true });
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#channel.close();
  }

  /** The screen has changed in a way that is no output: its size. */
  refresh(): void {
    void this.#read();
  }

  /** Output from here on wakes again, so the screen is read after this and not before. */
  opened(): void {
    void this.#read();
  }

  output(): void {
    if (this.#isOver) return;
    const due = this.#readAt + Math.max(SHORTEST_MS, this.#tookMs * SHARE);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#channel.restart(), Math.max(0, due - performance.now()));
  }

  exit(): void {
    clearTimeout(this.#timer);
    void this.#read();
  }

  screen(): void {}

  gap(): void {}

  gone(error: CallError): void {
    this.#events.failed(error);
  }

  failed(error: CallError): void {
    this.#events.failed(error);
  }

  async #read(): Promise<void> {
    this.#isStale = this.#isReading;
    if (this.#isReading || this.#isOver) return;
    this.#isReading = true;
    this.#readAt = performance.now();
    try {
      this.#show(await this.#port.read(this.#pane));
    } catch (error) {
      // The next connection opens the channel anew, which reads again.
      const isLost = hasCode(error, "offline") || hasCode(error, "unconfirmed");
      if (!this.#isOver && !isLost) this.#events.failed(error as CallError);
    }
    this.#tookMs = performance.now() - this.#readAt;
    this.#isReading = false;
    if (this.#isStale) void this.#read();
  }

  #show(screen: Screen): void {
    if (this.#isOver || screen.revision === this.#revision) return;
    this.#revision = screen.revision;
    this.#events.screen(screen);
  }
}
