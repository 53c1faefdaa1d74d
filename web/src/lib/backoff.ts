/** The delay before the next attempt to connect. */

const FIRST_MS = 200;
const LONGEST_MS = 10_000;

/** Doubles from 0.2 s to 10 s; `random` from 0 to 1 takes off up to half, so that pages spread. */
export function backoffMs(attempt: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
  return Math.round(whole * (1 - random / 2));
}
