/** Lets the clock of a replay run while it plays. */
import { useEffect, useState } from "react";
import { advance, type Clock } from "./clock";
import { TENTH, type Timeline } from "./timeline";

const START: Clock = { at: Number.NaN, isPlaying: false, speed: 1, skipsIdle: true };

export function useClock(
  timeline: Timeline | null,
  begin: number | null,
): [Clock, (change: (clock: Clock) => Clock) => void] {
  const [clock, setClock] = useState(START);
  const isSet = !Number.isNaN(clock.at);
  useEffect(() => {
    if (!timeline || isSet) return;
    const at = Math.min(timeline.end, Math.max(timeline.start, begin ?? timeline.end));
    setClock((before) => ({ ...before, at }));
  }, [timeline, isSet, begin]);
  useEffect(() => {
    if (!clock.isPlaying || !timeline) return;
    let last = performance.now();
    const timer = window.setInterval(() => {
      const now = performance.now();
      const elapsed = now - last;
      last = now;
      setClock((before) => advance(before, elapsed, timeline));
    }, TENTH);
    return () => window.clearInterval(timer);
  }, [clock.isPlaying, timeline]);
  return [clock, setClock];
}
