import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { qrMatrix, qrPath } from ".";
import { versionFor } from "./codewords";
import { errorCorrection } from "./reed-solomon";

/** Read by an independent decoder when it was written down. */
const PANED = [
  "#######.##.#..#######",
  "#.....#...###.#.....#",
  "#.###.#..#.#..#.###.#",
  "#.###.#.#.##..#.###.#",
  "#.###.#.#.#.#.#.###.#",
  "#.....#.#.##..#.....#",
  "#######.#.#.#.#######",
  "........#..##........",
  "#...#.######.#####..#",
  "...##..######..#..##.",
  "..########.#..###..#.",
  "##.#......#..##.#....",
  ".######.#...###....##",
  "........#.#.###..#...",
  "#######.#...##...###.",
  "#.....#..#.##..#...#.",
  "#.###.#.##.#..###...#",
  "#.###.#..####....####",
  "#.###.#..###..###....",
  "#.....#......####....",
  "#######.#.#.####....#",
];

const rowsOf = (text: string) =>
  (qrMatrix(text) ?? []).map((row) => row.map((isDark) => (isDark ? "#" : ".")).join(""));
const digest = (text: string) => {
  const bits = rowsOf(text).join("\n").replaceAll("#", "1").replaceAll(".", "0");
  return createHash("sha256").update(bits).digest("hex").slice(0, 16);
};

test("the codewords of error correction are those of the standard's example", () => {
  const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
  expect(errorCorrection(data, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
});

test("codes are those that a decoder has read", () => {
  expect(rowsOf("paned")).toEqual(PANED);
  expect(digest("http://127.0.0.1:7263/#t=abcdefghijklmnopqrstuvwxyz012345&keep")).toBe(
    "34830cfc51dc77b6",
  );
  // With several blocks, alignment patterns and version information.
  expect(digest("x".repeat(230))).toBe("99b4e60cf19fca2f");
  expect(digest("z".repeat(400))).toBe("79907a2e182e3153");
});

test("the smallest version is taken, and too long texts are refused", () => {
  expect(versionFor(14)).toBe(1);
  expect(versionFor(15)).toBe(2);
  expect(versionFor(412)).toBe(15);
  expect(versionFor(413)).toBeNull();
  expect(qrMatrix("x".repeat(413))).toBeNull();
});

test("the path has a square for each dark module", () => {
  expect(
    qrPath([
      [true, false],
      [false, true],
    ]),
  ).toBe("M0 0h1v1h-1zM1 1h1v1h-1z");
});
