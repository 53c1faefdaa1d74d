/** The clock of a replay: where it is, and where it is after some time. Pure. */
import { clamp, nextOutput, type Timeline } from "./timeline";

export const SPEEDS = [0.5, 1, 2, 4, 8, 16] as const;
export type Speed = (typeof SPEEDS)[number];

export interface Clock {
  at: number;
  isPlaying: boolean;
  speed: Speed;
  skipsIdle: boolean;
}

/** A silence longer than this is skipped. */
const IDLE_MS = 2_000;
/** How long before the next output a skip ends. */
const LEAD_MS = 400;

/** The clock after some milliseconds of real time. */
export function advance(clock: Clock, elapsedMs: number, timeline: Timeline): Clock {
  if (!clock.isPlaying) return clock;
  let at = clock.at + elapsedMs * clock.speed;
  if (clock.skipsIdle) {
    const next = nextOutput(timeline, at) ?? timeline.end;
    if (next - at > IDLE_MS) at = next - LEAD_MS;
  }
  if (at >= timeline.end) return { ...clock, at: timeline.end, isPlaying: false };
  return { ...clock, at };
}

export function seek(clock: Clock, at: number, timeline: Timeline): Clock {
  return { ...clock, at: clamp(timeline, at) };
}

/** Plays, from the start when it is at the end; or pauses. */
export function toggle(clock: Clock, timeline: Timeline): Clock {
  if (clock.isPlaying) return { ...clock, isPlaying: false };
  const at = clock.at >= timeline.end ? timeline.start : clock.at;
  return { ...clock, at, isPlaying: true };
}
