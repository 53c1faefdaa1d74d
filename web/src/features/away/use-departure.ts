/** Notices that the page was left, and that it is shown again after a while. */
import { useEffect, useState } from "react";
import { useApp } from "../../state/store";
import type { Departure } from "./digest";

const KEY = "paned.left";
/** A shorter absence needs no summary. */
const AWAY_MS = 10 * 60_000;

export interface Absence {
  left: Departure;
  returnedAt: number;
}

/** The latest absence until it is dismissed. */
export function useAbsence(): [Absence | null, () => void] {
  const isLoaded = useApp((state) => state.isLoaded);
  const [absence, setAbsence] = useState<Absence | null>(null);
  useEffect(() => {
    if (!isLoaded) return;
    const leave = () => {
      const eventId = useApp.getState().events.last;
      localStorage.setItem(KEY, JSON.stringify({ eventId, at: Date.now() }));
    };
    const back = () => {
      const left = stored();
      const returnedAt = Date.now();
      localStorage.removeItem(KEY);
      if (left && returnedAt - left.at >= AWAY_MS) setAbsence({ left, returnedAt });
    };
    const changed = () => (document.hidden ? leave() : back());
    if (!document.hidden) back();
    document.addEventListener("visibilitychange", changed);
    window.addEventListener("pagehide", leave);
    return () => {
      document.removeEventListener("visibilitychange", changed);
      window.removeEventListener("pagehide", leave);
    };
  }, [isLoaded]);
  return [absence, () => setAbsence(null)];
}

function stored(): Departure | null {
  try {
    const left = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return left && Number.isFinite(left.eventId) && Number.isFinite(left.at) ? left : null;
  } catch {
    return null;
  }
}
