/** Requests that wait for an answer on one connection. Pure but for the promises. */
import { type CallError, callError, unconfirmed } from "./errors";
import type { Refusal } from "./protocol";

interface Waiting {
  sentAt: number;
  /** Whether the server answers at once when it is alive: input and pings, not long actions. */
  isProbe: boolean;
  resolve: (answer: unknown) => void;
  reject: (error: CallError) => void;
}

/** The requests of one connection, by id. */
export class Requests {
  #next = 1;
  readonly #waiting = new Map<number, Waiting>();

  /** Registers a request that is about to be sent. */
  add(now: number, isProbe: boolean): { id: number; answer: Promise<unknown> } {
    const id = this.#next++;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { sentAt: now, isProbe, resolve, reject });
    });
    return { id, answer };
  }

  resolve(id: number | undefined, answer: unknown): void {
    this.#take(id)?.resolve(answer);
  }

  refuse(refusal: Refusal): void {
    this.#take(refusal.id)?.reject(callError(refusal));
  }

  /** The connection is lost: whether these were executed is not known. */
  failAll(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const request of waiting) request.reject(unconfirmed());
  }

  /** When the oldest request was sent that the server should have answered by now. */
  oldestProbe(): number | null {
    for (const request of this.#waiting.values()) if (request.isProbe) return request.sentAt;
    return null;
  }

  #take(id: number | undefined): Waiting | undefined {
    if (id === undefined) return undefined;
    const request = this.#waiting.get(id);
    this.#waiting.delete(id);
    return request;
  }
}
