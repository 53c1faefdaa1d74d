/** Stays at the last line while the list is scrolled to its end; elsewhere counts what is new. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";

export interface FollowOptions {
  list: Virtualizer<HTMLDivElement, Element> | Virtualizer<HTMLElement, Element>;
  scroller: RefObject<HTMLElement | null>;
  rows: number;
  total: number;
  isLoaded: boolean;
  startsAtEnd: boolean;
}

const NEAR = 24;

export function useFollow({ list, scroller, rows, total, isLoaded, startsAtEnd }: FollowOptions) {
  const isAtEnd = useRef(startsAtEnd);
  /** How many lines there were when the end was left. */
  const [left, setLeft] = useState<number | null>(startsAtEnd ? null : total);
  const latest = useRef(total);
  latest.current = total;
  useEffect(() => {
    const element = scroller.current;
    if (!element || !isLoaded) return;
    let top = element.scrollTop;
    const scrolled = () => {
      const rest = element.scrollHeight - element.clientHeight - element.scrollTop;
      const isUp = element.scrollTop < top - 1;
      top = element.scrollTop;
      // Only the user scrolls up; rows that grow move the end away by themselves.
      if (rest <= NEAR) isAtEnd.current = true;
      else if (isUp) isAtEnd.current = false;
      const isLeft = !isAtEnd.current;
      setLeft((before) => (isLeft ? (before ?? latest.current) : null));
    };
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => element.removeEventListener("scroll", scrolled);
  }, [scroller, isLoaded]);
  useLayoutEffect(() => {
    if (isAtEnd.current && rows > 0) list.scrollToIndex(rows - 1, { align: "end" });
  }, [list, rows]);
  // A list that opens at a line counts from the first total on.
  useEffect(() => {
    if (isLoaded) setLeft((before) => (before === 0 ? latest.current : before));
  }, [isLoaded]);
  const toEnd = () => {
    isAtEnd.current = true;
    setLeft(null);
    list.scrollToIndex(rows - 1, { align: "end" });
  };
  return { unseen: left === null ? 0 : Math.max(0, total - left), toEnd };
}
