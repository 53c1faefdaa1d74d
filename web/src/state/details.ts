/** Reads single panes again: after events that lack details, and regularly for visible rows. */
import { hasCode } from "../lib/errors";
import type { Socket } from "../lib/socket";
import { put, remove } from "./panes";
import { useApp } from "./store";

const VISIBLE_EVERY_MS = 2_000;
const AT_ONCE = 8;

export class Details {
  readonly #socket: Socket;
  readonly #wanted = new Set<string>();
  #visible: readonly string[] = [];
  #running = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** These rows are on the screen: no event says what they print, so they are read regularly. */
  show(ids: readonly string[]): void {
    this.#visible = ids;
  }

  refresh(id: string): void {
    this.#wanted.add(id);
    this.#next();
  }

  start(): () => void {
    const timer = window.setInterval(() => this.#refreshVisible(), VISIBLE_EVERY_MS);
    return () => window.clearInterval(timer);
  }

  #refreshVisible(): void {
    if (document.hidden || !this.#socket.isOpen()) return;
    const { panes } = useApp.getState();
    for (const id of this.#visible) if (panes.get(id)?.status === "running") this.#wanted.add(id);
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
