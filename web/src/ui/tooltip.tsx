/** One tooltip for all elements with `data-tip`; what it needs is loaded at the first of them. */
import { lazy, Suspense, useEffect, useState } from "react";

const Popup = lazy(() => import("./tooltip-popup"));

const DELAY_MS = 500;

export function TooltipLayer() {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  useEffect(() => {
    let timer: number | undefined;
    const hide = () => {
      window.clearTimeout(timer);
      setAnchor(null);
    };
    const show = (event: Event) => {
      const target = event.target instanceof Element ? event.target : null;
      const element = target?.closest<HTMLElement>("[data-tip]");
      hide();
      if (!element) return;
      const isKeyboard = event.type === "focusin" && element.matches(":focus-visible");
      if (event.type === "focusin" && !isKeyboard) return;
      timer = window.setTimeout(() => setAnchor(element), DELAY_MS);
    };
    const isMouse = (event: PointerEvent) => event.pointerType === "mouse" && show(event);
    document.addEventListener("pointerover", isMouse);
    document.addEventListener("focusin", show);
    document.addEventListener("pointerdown", hide);
    document.addEventListener("keydown", hide);
    return () => {
      hide();
      document.removeEventListener("pointerover", isMouse);
      document.removeEventListener("focusin", show);
      document.removeEventListener("pointerdown", hide);
      document.removeEventListener("keydown", hide);
    };
  }, []);
  if (!anchor?.isConnected) return null;
  return (
    <Suspense fallback={null}>
      <Popup anchor={anchor} />
    </Suspense>
  );
}
