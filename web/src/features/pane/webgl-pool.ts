/** At most eight terminals draw by WebGL: a page has only sixteen contexts. Pure but for `release`. */

const MOST = 8;

/** The terminals that have a context, least recently used first. */
const holders = new Map<object, () => void>();

/** Gives a terminal a context; the one that was not used for longest loses its own. */
export function acquire(holder: object, release: () => void): void {
  holders.delete(holder);
  holders.set(holder, release);
  if (holders.size <= MOST) return;
  const [oldest] = holders;
  if (!oldest) return;
  holders.delete(oldest[0]);
  oldest[1]();
}

/** The terminal was used. */
export function touch(holder: object): void {
  const release = holders.get(holder);
  if (!release) return;
  holders.delete(holder);
  holders.set(holder, release);
}

/** The terminal has given up its context. */
export function forget(holder: object): void {
  holders.delete(holder);
}
