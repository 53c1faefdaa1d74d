import { expect, test } from "vitest";
import { labels, matches } from "./keys";

const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
const both = { ...none, ctrlKey: true, shiftKey: true };

test("`C` is Ctrl+Shift, or the command key of macOS", () => {
  expect(matches({ ...both, key: "K" }, "C+K", false)).toBe(true);
  expect(matches({ ...none, ctrlKey: true, key: "k" }, "C+K", false)).toBe(false);
  expect(matches({ ...none, metaKey: true, key: "k" }, "C+K", true)).toBe(true);
  expect(matches({ ...both, key: "K" }, "C+K", true)).toBe(false);
});

test("Shift may change the character of a chord", () => {
  expect(matches({ ...both, key: ">" }, "C+.", false)).toBe(true);
});

test("symbols match with and without Shift, letters only without", () => {
  expect(matches({ ...none, shiftKey: true, key: "?" }, "?", false)).toBe(true);
  expect(matches({ ...none, shiftKey: true, key: "J" }, "j", false)).toBe(false);
});

test("labels are those of the system", () => {
  expect(labels("C+K", false)).toEqual(["Ctrl", "Shift", "K"]);
  expect(labels("C+K", true)).toEqual(["⌘", "K"]);
});
