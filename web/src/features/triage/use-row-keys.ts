/** Keys of the list: j and k, arrows, Enter, and the way back from the terminal. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type RefObject, useState } from "react";
import { useCommand } from "../../lib/commands";
import { unseen } from "../../state/unread-storage";
import type { ListItem } from "./items";

export interface RowKeys {
  ids: readonly string[];
  items: readonly ListItem[];
  virtual: Virtualizer<HTMLDivElement, Element>;
  scroller: RefObject<HTMLDivElement | null>;
  selected: string | null;
  onOpen: (id: string) => void;
}

/** Frames to wait for a row that has just been scrolled into view. */
const MOST_FRAMES = 10;

export function useRowKeys({ ids, items, virtual, scroller, selected, onOpen }: RowKeys) {
  const [last, setLast] = useState<string | null>(null);
  const known = (id: string | null) => (id !== null && ids.includes(id) ? id : null);
  const focused = () => scroller.current?.querySelector<HTMLElement>(":focus")?.dataset.row ?? null;
  const tabStop = known(last) ?? known(selected) ?? ids[0] ?? null;

  const indexOf = (id: string) =>
    items.findIndex((item) => item.kind === "row" && item.row.pane.id === id);

  const focus = (id: string | null | undefined) => {
    if (!id) return;
    setLast(id);
    virtual.scrollToIndex(indexOf(id));
    focusWhenDrawn(scroller, id, MOST_FRAMES);
  };
  const step = (by: number) => {
    const from = known(focused() ?? last ?? selected);
    focus(from === null ? ids[0] : ids[ids.indexOf(from) + by]);
  };
  const unread = () => {
    const index = indexOf(focused() ?? selected ?? "");
    const item = items[index];
    if (item?.kind === "row") unseen(item.row.pane.instance);
  };
  useCommand("row-next", () => step(1));
  useCommand("row-previous", () => step(-1));
  useCommand("row-open", () => {
    const id = focused() ?? last;
    if (id) onOpen(id);
  });
  useCommand("focus-list", () => focus(known(selected) ?? tabStop));
  useCommand("unread", unread);

  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || !focused()) return;
    event.preventDefault();
    step(by);
  };
  return { tabStop, onKeyDown };
}

function focusWhenDrawn(
  scroller: RefObject<HTMLDivElement | null>,
  id: string,
  frames: number,
): void {
  const row = scroller.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);
  if (row) return row.focus();
  if (frames > 0) requestAnimationFrame(() => focusWhenDrawn(scroller, id, frames - 1));
}
