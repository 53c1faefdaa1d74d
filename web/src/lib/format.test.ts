import { expect, test } from "vitest";
import { bytes, count, folder, span } from "./format";

test("a span is shown in its largest unit", () => {
  const shown = [-5, 31_000, 240_000, 7_200_000, 300_000_000].map(span);
  expect(shown).toEqual(["0s", "31s", "4m", "2h", "3d"]);
});

test("bytes have a unit and few digits", () => {
  expect([0, 999, 1_500, 9_437_184].map(bytes)).toEqual(["0 B", "999 B", "1.5 KB", "9.4 MB"]);
});

test("counts agree with their noun", () => {
  expect([count(1, "byte"), count(1200, "byte"), count(2, "match", "matches")]).toEqual([
    "1 byte",
    "1,200 bytes",
    "2 matches",
  ]);
});

test("folders are short", () => {
  expect(["/home/ann/api", "/srv", "/", "/a/b/c/d"].map((path) => folder(path))).toEqual([
    "~/api",
    "/srv",
    "/",
    "…/c/d",
  ]);
});
