/** Which panes the grid shows and in which order, and where the arrow keys lead. Pure. */

export const MOST_TILES = 16;

/** The ids of `?p=a,b`, each once. */
export function parseIds(text: string | null): string[] {
  const ids = (text ?? "").split(",").filter(Boolean);
  return [...new Set(ids)].slice(0, MOST_TILES);
}

/** As many columns as fit, and not more than look balanced. */
export function columnsFor(count: number, width: number): number {
  const widest = width < 900 ? 2 : width < 1200 ? 3 : 4;
  const balanced = count <= 1 ? 1 : count <= 4 ? 2 : count <= 9 ? 3 : 4;
  return Math.min(widest, balanced);
}

export type Direction = "left" | "right" | "up" | "down";

/** The place beside another; the same when there is none. */
export function neighbour(at: number, direction: Direction, count: number, columns: number) {
  const steps = { left: -1, right: 1, up: -columns, down: columns };
  const next = at + steps[direction];
  const isRowEnd = direction === "left" ? at % columns === 0 : at % columns === columns - 1;
  if ((direction === "left" || direction === "right") && isRowEnd) return at;
  return next < 0 || next >= count ? at : next;
}

/** The ids with one of them at another place; those between move up. */
export function moved(ids: readonly string[], id: string, to: number): string[] {
  const rest = ids.filter((other) => other !== id);
  return rest.toSpliced(to, 0, id);
}

/** Adds an id at the end, or removes it. */
export function toggled(ids: readonly string[], id: string): string[] {
  if (ids.includes(id)) return ids.filter((other) => other !== id);
  return [...ids, id].slice(0, MOST_TILES);
}
