/** The lines of a pane that have been read, in pages. Pure. */
import type { OutputLine } from "../../api/generated";

/** How many lines are read at once. */
export const PAGE = 200;
/** How many pages are kept. */
const MOST_PAGES = 60;

export interface LineCache {
  /** How many lines the pane has printed, also those that are no longer kept. */
  total: number;
  /** How many of them are no longer kept. */
  dropped: number;
  pages: ReadonlyMap<number, readonly OutputLine[]>;
}

export interface Counts {
  total: number;
  dropped: number;
}

export const noLines: LineCache = { total: 0, dropped: 0, pages: new Map() };

export function lineAt(cache: LineCache, n: number): OutputLine | null {
  const lines = cache.pages.get(Math.floor(n / PAGE));
  const first = lines?.[0]?.n ?? 0;
  return lines?.[n - first] ?? null;
}

/** More was printed: lines without an end may have grown, so they are read again. */
export function withCounts(cache: LineCache, { total, dropped }: Counts): LineCache {
  const pages = new Map(cache.pages);
  for (const [page, lines] of pages) {
    if (lines.at(-1)?.open) pages.set(page, lines.slice(0, -1));
    if ((page + 1) * PAGE <= dropped) pages.delete(page);
  }
  return { total: Math.max(total, dropped), dropped, pages };
}

/** Adds an answer of `pane:read`, which may begin within a page and end within another. */
export function withLines(cache: LineCache, lines: readonly OutputLine[]): LineCache {
  const pages = new Map(cache.pages);
  for (const line of lines) {
    const page = Math.floor(line.n / PAGE);
    const before = pages.get(page) ?? [];
    const last = before.at(-1)?.n;
    if (last !== undefined && line.n <= last) continue;
    // Lines between were dropped meanwhile.
    pages.set(page, last !== undefined && line.n !== last + 1 ? [line] : [...before, line]);
  }
  const read = Math.floor((lines[0]?.n ?? 0) / PAGE);
  return { ...cache, pages: nearest(pages, read) };
}

function nearest<T>(pages: ReadonlyMap<number, T>, to: number): ReadonlyMap<number, T> {
  if (pages.size <= MOST_PAGES) return pages;
  const distance = ([page]: [number, T]) => Math.abs(page - to);
  return new Map([...pages].sort((a, b) => distance(a) - distance(b)).slice(0, MOST_PAGES));
}

/** The first line to read so that the lines from `from` to before `to` are there. */
export function firstMissing(cache: LineCache, from: number, to: number): number | null {
  const start = Math.max(from, cache.dropped);
  const end = Math.min(to, cache.total);
  for (let n = start; n < end; ) {
    if (!lineAt(cache, n)) {
      const page = cache.pages.get(Math.floor(n / PAGE));
      const last = page?.at(-1)?.n;
      const begin = Math.max(Math.floor(n / PAGE) * PAGE, cache.dropped);
      return last !== undefined && last < n ? last + 1 : begin;
    }
    const lines = cache.pages.get(Math.floor(n / PAGE));
    n = (lines?.at(-1)?.n ?? n) + 1;
  }
  return null;
}

/** Rows beyond this height are not drawn by every browser. */
export const MOST_ROWS = 500_000;

/** The first line of the list: all lines that are kept, or as many as fit, around `line`. */
export function baseFor({ total, dropped }: Counts, line: number): number {
  const last = Math.max(dropped, total - MOST_ROWS);
  return Math.min(last, Math.max(dropped, line - MOST_ROWS / 2));
}
