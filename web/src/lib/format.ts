/** Times, ages and sizes as short texts. Pure: the time is an argument. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span in its largest unit: `31s`, `4m`, `2h`, `3d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < MINUTE) return `${seconds}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h`;
  return `${Math.floor(seconds / DAY)}d`;
}

/** How long ago a time of the server was. */
export function age(time: string, now: number): string {
  return span(now - Date.parse(time));
}

/** The local time of day, `12:04:11`. */
export function clock(time: string): string {
  return new Date(time).toLocaleTimeString([], { hour12: false });
}

/** The local day and time for titles. */
export function moment(time: string): string {
  return new Date(time).toLocaleString([], { hour12: false });
}

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** A number of bytes, `9.4 MB`. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

const whole = new Intl.NumberFormat("en-US");

/** `1 byte`, `12 bytes`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${whole.format(n)} ${n === 1 ? one : many}`;
}

/** A folder with the home folder as `~` and only its last parts. */
export function folder(path: string, parts = 2): string {
  const short = path.replace(/^\/(home|Users)\/[^/]+|^\/root/, "~");
  const names = short.split("/").filter(Boolean);
  if (names.length <= parts) return short;
  return `…/${names.slice(-parts).join("/")}`;
}
