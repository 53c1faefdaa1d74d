/** Whether the pointer, a finger or the focus is on the list, so that its rows must stay. */
import { type RefObject, useEffect, useState } from "react";

/** After a touch, the finger often comes back. */
const AFTER_TOUCH_MS = 1_500;

export function useAttention(list: RefObject<HTMLElement | null>): boolean {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    let timer: number | undefined;
    let isPointed = false;
    const settle = () => setHeld(isPointed || element.contains(document.activeElement));
    const point = (isOn: boolean) => {
      window.clearTimeout(timer);
      isPointed = isOn;
      settle();
    };
    const leave = (event: PointerEvent) => {
      if (event.pointerType === "mouse") return point(false);
      window.clearTimeout(timer);
      timer = window.setTimeout(() => point(false), AFTER_TOUCH_MS);
    };
    // During `focusout` the new element is not active yet.
    const blurred = () => window.setTimeout(settle);
    const on = () => point(true);
    element.addEventListener("pointerenter", on);
    element.addEventListener("pointerdown", on);
    element.addEventListener("pointerleave", leave);
    element.addEventListener("pointerup", leave);
    element.addEventListener("focusin", settle);
    element.addEventListener("focusout", blurred);
    return () => {
      window.clearTimeout(timer);
      element.removeEventListener("pointerenter", on);
      element.removeEventListener("pointerdown", on);
      element.removeEventListener("pointerleave", leave);
      element.removeEventListener("pointerup", leave);
      element.removeEventListener("focusin", settle);
      element.removeEventListener("focusout", blurred);
    };
  }, [list]);
  return isHeld;
}
