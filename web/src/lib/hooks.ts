/** Small hooks about the window and the clock. */
import { useEffect, useState, useSyncExternalStore } from "react";

/** Whether a media query matches. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => window.matchMedia(query).matches,
  );
}

/** The time, renewed every second while the page is visible; one timer for all. */
export function useNow(): number {
  return useSyncExternalStore(tick.listen, () => tick.now);
}

const tick = {
  now: Date.now(),
  listeners: new Set<() => void>(),
  timer: undefined as number | undefined,
  listen(changed: () => void): () => void {
    tick.listeners.add(changed);
    tick.timer ??= window.setInterval(() => {
      if (document.hidden) return;
      tick.now = Date.now();
      for (const listener of tick.listeners) listener();
    }, 1000);
    return () => {
      tick.listeners.delete(changed);
      if (tick.listeners.size > 0) return;
      window.clearInterval(tick.timer);
      tick.timer = undefined;
    };
  },
};

/** Turns true after a delay: for indicators that must not flash. */
export function useDelayed(ms: number): boolean {
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setDue(true), ms);
    return () => window.clearTimeout(timer);
  }, [ms]);
  return isDue;
}
