/** Reads single panes again, after events that lack details. */
import { hasCode } from "../lib/errors";
import type { Socket } from "../lib/socket";
import { put, remove } from "./panes";
import { useApp } from "./store";

const AT_ONCE = 8;

export class Details {
  readonly #socket: Socket;
  readonly #wanted = new Set<string>();
  #visible: ReadonlySet<string> = new Set();
  #running = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** The rows on the screen: of others, minor changes are not worth a request. */
  show(ids: readonly string[]): void {
    this.#visible = new Set(ids);
  }

  isVisible(id: string): boolean {
    return this.#visible.has(id);
  }

  /** Reads a pane soon; for a change that has no event of its own, such as that of its tags. */
  refresh(id: string): void {
    this.#wanted.add(id);
    this.#next();
  }

  #next(): void {
    while (this.#running < AT_ONCE) {
      const [id] = this.#wanted;
      if (id === undefined) return;
      this.#wanted.delete(id);
      this.#running += 1;
      void this.#read(id).finally(() => {
        this.#running -= 1;
        this.#next();
      });
    }
  }

  async #read(id: string): Promise<void> {
    try {
      const pane = await this.#socket.call("pane:get", { paneId: id });
      useApp.setState((state) => ({ panes: put(state.panes, pane) }));
    } catch (error) {
      if (!hasCode(error, "not_found")) return;
      useApp.setState((state) => ({ panes: remove(state.panes, id) }));
    }
  }
}
