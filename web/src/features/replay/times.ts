/** Moments with tenths of seconds, as finely as the tape is stamped. */

export function clockTenths(at: number): string {
  const time = new Date(at).toLocaleTimeString([], { hour12: false });
  return `${time}.${Math.floor((at % 1000) / 100)}`;
}

/** With the day, unless that is today. */
export function dayAndClock(at: number, now = Date.now()): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  const day = isToday ? "" : `${date.toLocaleDateString([], { month: "short", day: "numeric" })} `;
  return day + clockTenths(at);
}
