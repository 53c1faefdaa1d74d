/** Rows never move under the pointer or the focus: the order is held, and what moved is counted. */
import { useMemo, useRef } from "react";
import type { ListItem, RowItem } from "./items";

export interface HeldItems {
  items: readonly ListItem[];
  /** How many rows would be elsewhere, new or gone. */
  moved: number;
}

/** The items as they are placed, with what is new about them. Pure. */
export function hold(placed: readonly ListItem[], fresh: readonly ListItem[]): HeldItems {
  const news = new Map(fresh.map((item) => [item.key, item]));
  const items = placed.map((item) => renew(item, news.get(item.key)));
  return { items, moved: countMoved(placed, fresh) };
}

function renew(item: ListItem, news: ListItem | undefined): ListItem {
  if (item.kind === "head") return news?.kind === "head" ? news : { ...item, count: 0, needs: 0 };
  if (news?.kind !== "row") return { ...item, isGone: true };
  // The height stays as well, or the rows below would move.
  return news.row === item.row ? item : { ...item, row: news.row };
}

function countMoved(placed: readonly ListItem[], fresh: readonly ListItem[]): number {
  const isRow = (item: ListItem): item is RowItem => item.kind === "row";
  const before = new Map(placed.filter(isRow).map((item) => [item.key, item]));
  const after = fresh.filter(isRow);
  const elsewhere = after.filter((item) => before.get(item.key)?.group !== item.group).length;
  const kept = new Set(after.map((item) => item.key));
  const gone = [...before.keys()].filter((key) => !kept.has(key)).length;
  return elsewhere + gone;
}

/** Holds the order while `isHeld`; a new `reason` (a filter, a grouping) places all rows anew. */
export function useHeld(fresh: readonly ListItem[], isHeld: boolean, reason: string): HeldItems {
  const placed = useRef({ items: fresh, reason });
  const isFree = !isHeld || placed.current.reason !== reason;
  if (isFree) placed.current = { items: fresh, reason };
  const { items } = placed.current;
  return useMemo(() => {
    return items === fresh ? { items: fresh, moved: 0 } : hold(items, fresh);
  }, [items, fresh]);
}
