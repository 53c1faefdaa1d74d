/** Sticks to the end of a list while it is there, counts what comes meanwhile, keeps its place. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";

/** So near to the end counts as the end. */
const NEAR = 24;

export interface Follow {
  isAtEnd: boolean;
  /** How many rows have come below since the end was left. */
  fresh: number;
  scrolled(): void;
  toEnd(): void;
  /** Stays here: something is being read. */
  hold(): void;
}

export function useFollow(
  virtual: Virtualizer<HTMLDivElement, Element>,
  keys: readonly string[],
): Follow {
  const [isAtEnd, setAtEnd] = useState(true);
  const [left, setLeft] = useState<string | null>(null);
  const before = useRef<{ first: string | undefined; count: number }>({
    first: undefined,
    count: 0,
  });
  const first = keys[0];
  const count = keys.length;
  const toEnd = () => {
    setAtEnd(true);
    setLeft(null);
    if (count > 0) virtual.scrollToIndex(count - 1, { align: "end" });
  };
  const hold = () => {
    setAtEnd(false);
    setLeft(keys.at(-1) ?? null);
  };
  useLayoutEffect(() => {
    const known = before.current;
    before.current = { first, count };
    if (isAtEnd && count > 0) {
      virtual.scrollToIndex(count - 1, { align: "end" });
      return;
    }
    // An older page has come above: what was on the screen stays there.
    const added = known.first === undefined ? -1 : keys.indexOf(known.first);
    if (first === known.first || added <= 0) return;
    const at = virtual.getOffsetForIndex(added, "start")?.[0] ?? 0;
    const offset = virtual.scrollOffset ?? 0;
    virtual.scrollToOffset(offset + at);
  }, [first, count, keys, isAtEnd, virtual]);
  const scrolled = () => {
    const element = virtual.scrollElement;
    if (!element) return;
    const isEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    if (isEnd === isAtEnd) return;
    setAtEnd(isEnd);
    setLeft(isEnd ? null : (keys.at(-1) ?? null));
  };
  const at = left === null ? -1 : keys.lastIndexOf(left);
  return { isAtEnd, fresh: at < 0 ? 0 : count - 1 - at, scrolled, toEnd, hold };
}
