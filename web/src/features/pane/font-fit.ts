/** The size of the font with which a terminal of a given size fits into a box. Pure. */

export const SMALLEST = 9;
const STEP = 0.5;

/** Pixels of a box or a cell. */
export interface Box {
  width: number;
  height: number;
}

/**
 * The first size to try, from `preferred` down to 9: `screen` is the size of the whole terminal at
 * `current` pixels. Cells are rounded to device pixels, so the result has to be measured.
 */
export function firstGuess(box: Box, screen: Box, current: number, preferred: number): number {
  const scale = Math.min(box.width / screen.width, box.height / screen.height);
  const fitting = Math.floor((current * scale) / STEP) * STEP;
  return Math.max(Math.min(preferred, fitting + STEP), Math.min(SMALLEST, preferred));
}

/** Tries sizes downwards until the terminal fits; `measure` sets a size and returns the pixels. */
export function fitFont(
  box: Box,
  first: number,
  preferred: number,
  measure: (size: number) => Box,
): number {
  const smallest = Math.min(SMALLEST, preferred);
  let size = first;
  while (size > smallest) {
    const screen = measure(size);
    if (screen.width <= box.width && screen.height <= box.height) return size;
    size = Math.max(smallest, size - STEP);
  }
  measure(size);
  return size;
}
