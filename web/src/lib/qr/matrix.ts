/** The modules of a QR code: fixed patterns, data in zigzag, and one of eight masks. Pure. */

export type Matrix = boolean[][];

/** Which modules are fixed, and what they are. */
export interface Frame {
  side: number;
  dark: Matrix;
  fixed: Matrix;
}

export function frameOf(version: number): Frame {
  const side = version * 4 + 17;
  const blank = () => Array.from({ length: side }, () => new Array<boolean>(side).fill(false));
  const frame: Frame = { side, dark: blank(), fixed: blank() };
  for (let index = 0; index < side; index += 1) {
    put(frame, 6, index, index % 2 === 0);
    put(frame, index, 6, index % 2 === 0);
  }
  finder(frame, 3, 3);
  finder(frame, 3, side - 4);
  finder(frame, side - 4, 3);
  alignments(frame, version);
  // Reserved here, written with the mask.
  format(frame, 0);
  information(frame, version);
  return frame;
}

function put({ dark, fixed, side }: Frame, row: number, column: number, isDark: boolean): void {
  if (row < 0 || column < 0 || row >= side || column >= side) return;
  (dark[row] as boolean[])[column] = isDark;
  (fixed[row] as boolean[])[column] = true;
}

/** Squares around a centre: rings by their distance. */
function square(frame: Frame, row: number, column: number, size: number, light: readonly number[]) {
  for (let y = -size; y <= size; y += 1)
    for (let x = -size; x <= size; x += 1)
      put(frame, row + y, column + x, !light.includes(Math.max(Math.abs(x), Math.abs(y))));
}

const finder = (frame: Frame, row: number, column: number) => square(frame, row, column, 4, [2, 4]);

function alignments(frame: Frame, version: number): void {
  if (version === 1) return;
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  const places = [6];
  for (let index = count - 2; index >= 0; index -= 1) places.push(frame.side - 7 - index * step);
  const last = frame.side - 7;
  for (const row of places)
    for (const column of places) {
      const isFinder =
        (row === 6 && (column === 6 || column === last)) || (row === last && column === 6);
      if (!isFinder) square(frame, row, column, 2, [1]);
    }
}

/** The remainder of a code with its generator appended, as format and version are protected. */
function protect(value: number, bits: number, generator: number): number {
  let rest = value;
  for (let index = 0; index < bits; index += 1)
    rest = (rest << 1) ^ ((rest >> (bits - 1)) * generator);
  return (value << bits) | rest;
}

/** Level M and the mask, twice. */
function format(frame: Frame, mask: number): void {
  const code = protect(mask, 10, 0x537) ^ 0x5412;
  const bit = (index: number) => ((code >> index) & 1) === 1;
  const { side } = frame;
  for (let index = 0; index <= 5; index += 1) put(frame, index, 8, bit(index));
  put(frame, 7, 8, bit(6));
  put(frame, 8, 8, bit(7));
  put(frame, 8, 7, bit(8));
  for (let index = 9; index < 15; index += 1) put(frame, 8, 14 - index, bit(index));
  for (let index = 0; index < 8; index += 1) put(frame, 8, side - 1 - index, bit(index));
  for (let index = 8; index < 15; index += 1) put(frame, side - 15 + index, 8, bit(index));
  put(frame, side - 8, 8, true);
}

function information(frame: Frame, version: number): void {
  if (version < 7) return;
  const code = protect(version, 12, 0x1f25);
  for (let index = 0; index < 18; index += 1) {
    const isDark = ((code >> index) & 1) === 1;
    const far = frame.side - 11 + (index % 3);
    const near = Math.floor(index / 3);
    put(frame, near, far, isDark);
    put(frame, far, near, isDark);
  }
}

/** Columns in pairs from the right, upwards and downwards in turn. */
export function drawn(frame: Frame, words: readonly number[]): Matrix {
  const dark = frame.dark.map((row) => [...row]);
  const { side, fixed } = frame;
  let at = 0;
  for (let right = side - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const isUpward = ((right + 1) & 2) === 0;
    for (let step = 0; step < side; step += 1) {
      const row = isUpward ? side - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (fixed[row]?.[column]) continue;
        const word = words[at >> 3] ?? 0;
        (dark[row] as boolean[])[column] = ((word >> (7 - (at & 7))) & 1) === 1;
        at += 1;
      }
    }
  }
  return dark;
}

const MASKS: readonly ((x: number, y: number) => number)[] = [
  (x, y) => (x + y) % 2,
  (_, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

export function masked(frame: Frame, data: Matrix, mask: number): Matrix {
  const invert = MASKS[mask] ?? (() => 1);
  const copy: Frame = {
    ...frame,
    dark: data.map((row, y) =>
      row.map((isDark, x) => (frame.fixed[y]?.[x] ? isDark : isDark !== (invert(x, y) === 0))),
    ),
    fixed: frame.fixed.map((row) => [...row]),
  };
  format(copy, mask);
  return copy.dark;
}
