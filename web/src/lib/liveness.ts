/** Tells a dead socket from a quiet one. Pure: the time is an argument. */

const PING_EVERY_MS = 5_000;
const HALF_OPEN_MS = 4_000;
/** After the tab or the network came back, a dead socket is the likely case. */
const DOUBTED_MS = 800;

/** What to do now. */
export type Verdict = "wait" | "ping" | "dead";

export class Liveness {
  #lastReceived: number;
  #lastPing = Number.NEGATIVE_INFINITY;
  #doubtedAt: number | null = null;

  constructor(now: number) {
    this.#lastReceived = now;
  }

  received(now: number): void {
    this.#lastReceived = now;
    this.#doubtedAt = null;
  }

  pinged(now: number): void {
    this.#lastPing = now;
  }

  /** The page was frozen or the network changed: ask now, and do not wait long. */
  doubt(now: number): void {
    this.#doubtedAt ??= now;
    this.#lastPing = Number.NEGATIVE_INFINITY;
  }

  /** `oldestProbe`: when the oldest unanswered input or ping was sent. */
  judge(now: number, oldestProbe: number | null): Verdict {
    if (this.#doubtedAt !== null && now - this.#doubtedAt >= DOUBTED_MS) return "dead";
    const silent = oldestProbe !== null && this.#lastReceived < oldestProbe;
    if (silent && now - oldestProbe >= HALF_OPEN_MS) return "dead";
    return now - this.#lastPing >= PING_EVERY_MS ? "ping" : "wait";
  }
}
