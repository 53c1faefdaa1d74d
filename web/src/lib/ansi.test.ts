import { expect, test } from "vitest";
import { parseScreen } from "./ansi";
import { contrast, hexOf, readable } from "./colour";

const runs = (text: string) =>
  parseScreen(text).map((row) => row.runs.map((run) => [run.text, run.style]));

test("plain text has one run without a style", () => {
  expect(runs("a b\n\nc")).toEqual([[["a b", {}]], [], [["c", {}]]]);
});

test("styles begin and end", () => {
  expect(runs("a\x1b[1;31mb\x1b[22mc\x1b[0md")).toEqual([
    [
      ["a", {}],
      ["b", { bold: true, fg: 1 }],
      ["c", { fg: 1 }],
      ["d", {}],
    ],
  ]);
  expect(runs("\x1b[4:3ma\x1b[4:0mb")).toEqual([
    [
      ["a", { underline: true }],
      ["b", {}],
    ],
  ]);
});

test("colours are of the palette or exact, in both notations", () => {
  const fg = (sequence: string) => parseScreen(`\x1b[${sequence}mx`)[0]?.runs[0]?.style;
  expect(fg("97")).toEqual({ fg: 15 });
  expect(fg("38;5;208;1")).toEqual({ fg: 208, bold: true });
  expect(fg("38:5:208")).toEqual({ fg: 208 });
  expect(fg("48;2;1;2;255")).toEqual({ bg: "#0102ff" });
  expect(fg("38:2::1:2:3")).toEqual({ fg: "#010203" });
});

test("a style lasts over the end of a row, and such rows differ", () => {
  const [first, second] = parseScreen("\x1b[7ma\nb");
  expect(second?.runs).toEqual([{ text: "b", style: { inverse: true } }]);
  expect(first?.key).not.toBe(second?.key);
  expect(parseScreen("b")[0]?.key).not.toBe(second?.key);
});

test("other sequences are left out", () => {
  expect(runs("a\x1b]8;;http://x\x1b\\b\x1b[2Kc")).toEqual([
    [
      ["a", {}],
      ["b", {}],
      ["c", {}],
    ],
  ]);
});

test("the palette has a cube and greys", () => {
  const theme = ["#000000"];
  expect(hexOf(0, theme)).toBe("#000000");
  expect(hexOf(16, theme)).toBe("#000000");
  expect(hexOf(208, theme)).toBe("#ff8700");
  expect(hexOf(232, theme)).toBe("#080808");
});

test("text that is hard to read is made readable, other text stays", () => {
  expect(readable("#ffffff", "#000000")).toBe("#ffffff");
  const found = readable("#333333", "#111111");
  expect(contrast(found, "#111111")).toBeGreaterThanOrEqual(4.5);
  expect(contrast(readable("#eeeeee", "#ffffff"), "#ffffff")).toBeGreaterThanOrEqual(4.5);
});
