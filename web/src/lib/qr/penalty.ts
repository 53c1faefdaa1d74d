/** How hard a matrix is to read: long runs, blocks, shapes like a finder, too much of a tone. Pure. */
import type { Matrix } from "./matrix";

export function penalty(matrix: Matrix): number {
  const columns = matrix.map((_, x) => matrix.map((row) => row[x] ?? false));
  let sum = 0;
  for (const line of [...matrix, ...columns]) sum += runs(line) + finders(line);
  return sum + blocks(matrix) + balance(matrix);
}

function runs(line: readonly boolean[]): number {
  let sum = 0;
  for (let from = 0, to = 0; from < line.length; from = to) {
    while (to < line.length && line[to] === line[from]) to += 1;
    if (to - from >= 5) sum += to - from - 2;
  }
  return sum;
}

const FINDERS = ["10111010000", "00001011101"];

function finders(line: readonly boolean[]): number {
  const text = line.map(Number).join("");
  let sum = 0;
  for (const pattern of FINDERS)
    for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) sum += 40;
  return sum;
}

function blocks(matrix: Matrix): number {
  let sum = 0;
  for (let y = 1; y < matrix.length; y += 1)
    for (let x = 1; x < matrix.length; x += 1) {
      const tone = matrix[y]?.[x];
      const isBlock =
        tone === matrix[y]?.[x - 1] &&
        tone === matrix[y - 1]?.[x] &&
        tone === matrix[y - 1]?.[x - 1];
      if (isBlock) sum += 3;
    }
  return sum;
}

function balance(matrix: Matrix): number {
  const dark = matrix.flat().filter(Boolean).length;
  const percent = (dark * 100) / (matrix.length * matrix.length);
  return Math.floor(Math.abs(percent - 50) / 5) * 10;
}
