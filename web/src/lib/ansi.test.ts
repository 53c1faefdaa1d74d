import { expect, test } from "vitest";
import { ansiRows } from "./ansi";

const ESC = "\x1b";
const row = (text: string) => ansiRows(text)[0] ?? [];

test("a row is cut into runs of one style", () => {
  expect(row(`${ESC}[0;2m0001${ESC}[0m ${ESC}[0;32mINFO${ESC}[0m  ok`)).toEqual([
    { text: "0001", fg: null, bg: null, dim: true },
    { text: " ", fg: null, bg: null },
    { text: "INFO", fg: 2, bg: null },
    { text: "  ok", fg: null, bg: null },
  ]);
  expect(row("plain")).toEqual([{ text: "plain", fg: null, bg: null }]);
  expect(row("")).toEqual([]);
});

test("colours of all kinds are understood", () => {
  const fg = (code: string) => row(`${ESC}[${code}mx`)[0]?.fg;
  expect(fg("91")).toBe(9);
  expect(fg("38;5;3")).toBe(3);
  expect(fg("38;5;196")).toBe("rgb(255 0 0)");
  expect(fg("38;5;244")).toBe("rgb(128 128 128)");
  expect(fg("38;2;1;2;3")).toBe("rgb(1 2 3)");
  expect(fg("38:2::1:2:3")).toBe("rgb(1 2 3)");
  expect(row(`${ESC}[38;2;1;2;3;1mx`)[0]).toMatchObject({ fg: "rgb(1 2 3)", bold: true });
  expect(row(`${ESC}[48;5;17;3mx`)[0]).toMatchObject({ bg: "rgb(0 0 95)", italic: true });
});

test("a style holds over rows until it is reset", () => {
  const [first, second] = ansiRows(`${ESC}[7mone\ntwo${ESC}[27m three`);
  expect(first?.[0]?.inverse).toBe(true);
  expect(second?.map(({ text, inverse }) => [text, inverse])).toEqual([
    ["two", true],
    [" three", false],
  ]);
});

test("other sequences are left out", () => {
  expect(row(`a${ESC}]8;;http://x\x07b${ESC}]8;;\x07${ESC}[2Kc`).map((run) => run.text)).toEqual([
    "a",
    "b",
    "c",
  ]);
});
