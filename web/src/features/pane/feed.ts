/**
 * Carries the output of a channel into an emulator: small writes, acknowledged when they are
 * parsed. A flood that the emulator cannot follow is skipped: the channel begins anew at the screen.
 */
import type { Size } from "../../api/generated";
import type { Channel, ChannelOpening, ChannelReader } from "../../lib/channel";
import type { CallError } from "../../lib/errors";
import type { ChannelExit } from "../../lib/protocol";
import type { Emulator } from "./emulator";

const LARGEST_WRITE = 32 * 1024;
const FLOOD_BYTES = 1_000_000;
const FLOOD_MS = 500;
/** Emulators wrap lines differently when their size changes, so the server's screen decides. */
const RESIZED_MS = 300;

/** Output that this emulator has not seen. */
export interface Skip {
  from: number;
  to: number;
  /** Everything before this offset is known to be lost. */
  lostTo: number;
}

/** What the page shows about the output besides the output. */
export interface FeedEvents {
  opened(opening: ChannelOpening): void;
  skipped(skip: Skip): void;
  exited(exit: ChannelExit): void;
  gone(error: CallError): void;
  failed(error: CallError): void;
}

type ResizeAt = { size: Size; offset: number };

export class Feed implements ChannelReader {
  readonly #emulator: Emulator;
  readonly #events: FeedEvents;
  readonly #now: () => number;
  #channel: Channel | null = null;
  /** Rises when the terminal begins anew, so that older writes acknowledge nothing. */
  #epoch = 0;
  #parsed = 0;
  #written = 0;
  #floodSince: number | null = null;
  #skip: { from: number; lostTo: number } | null = null;
  #resizes: ResizeAt[] = [];
  #settle: ReturnType<typeof setTimeout> | undefined;

  constructor(emulator: Emulator, events: FeedEvents, now: () => number = () => performance.now()) {
    this.#emulator = emulator;
    this.#events = events;
    this.#now = now;
  }

  /** The channel that this feed reads. */
  follow(channel: Channel): void {
    this.#channel = channel;
  }

  /** Output from `offset` on is for this size. */
  resized(size: Size, offset: number | undefined): void {
    if (offset === undefined || offset <= this.#written) this.#emulator.resize(size);
    else this.#resizes.push({ size, offset });
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#channel?.restart(), RESIZED_MS);
  }

  end(): void {
    clearTimeout(this.#settle);
  }

  opened(opening: ChannelOpening): void {
    if (!opening.resumed) {
      this.#epoch += 1;
      this.#resizes = [];
      this.#floodSince = null;
      const skip = this.#skip;
      this.#skip = null;
      if (skip && opening.offset > skip.from) {
        this.#events.skipped({ ...skip, to: opening.offset });
      }
    }
    this.#emulator.resize(opening.size);
    this.#events.opened(opening);
  }

  screen(bytes: Uint8Array, offset: number): void {
    this.#written = offset;
    this.#emulator.restart(bytes, this.#consume(offset));
  }

  output(bytes: Uint8Array, offset: number): void {
    for (let at = 0; at < bytes.length; ) {
      const resize = this.#resizeBefore(offset + bytes.length);
      const limit = resize ? Math.max(0, resize.offset - offset) : bytes.length;
      const end = Math.min(at + LARGEST_WRITE, bytes.length, Math.max(limit, at));
      if (end > at) this.#write(bytes.subarray(at, end), offset + end);
      if (resize && end === limit) this.#resize(resize);
      at = end;
    }
    this.#watchFlood();
  }

  gap(from: number, to: number): void {
    this.#skip = { from: this.#skip?.from ?? from, lostTo: to };
  }

  exit(exit: ChannelExit): void {
    this.#events.exited(exit);
  }

  gone(error: CallError): void {
    this.#events.gone(error);
  }

  failed(error: CallError): void {
    this.#events.failed(error);
  }

  #write(bytes: Uint8Array, end: number): void {
    this.#written = end;
    this.#emulator.write(bytes, this.#consume(end));
  }

  #consume(offset: number): () => void {
    const epoch = this.#epoch;
    return () => {
      if (epoch !== this.#epoch) return;
      this.#parsed = offset;
      this.#channel?.consumed(offset);
    };
  }

  #resizeBefore(end: number): ResizeAt | undefined {
    const [next] = this.#resizes;
    return next && next.offset < end ? next : undefined;
  }

  /** In its place among the writes: after what was written before it is parsed. */
  #resize(resize: ResizeAt): void {
    this.#resizes.shift();
    const epoch = this.#epoch;
    this.#emulator.write(new Uint8Array(), () => {
      if (epoch === this.#epoch) this.#emulator.resize(resize.size);
    });
  }

  #watchFlood(): void {
    const now = this.#now();
    if ((this.#channel?.behind ?? 0) < FLOOD_BYTES) {
      this.#floodSince = null;
      return;
    }
    this.#floodSince ??= now;
    if (now - this.#floodSince < FLOOD_MS) return;
    this.#floodSince = null;
    this.#skip ??= { from: this.#parsed, lostTo: 0 };
    this.#channel?.restart();
  }
}
