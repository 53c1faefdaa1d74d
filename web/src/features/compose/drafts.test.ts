import { expect, test } from "vitest";
import { noDraft, parse, returned, sent, settled, toResume, written } from "./drafts";

const HOUR = 3_600_000;

test("a sent prompt frees the field and is kept with its key", () => {
  const draft = sent(written(noDraft, "run the tests"), "k1", 5);
  expect(draft).toEqual({ text: "", sent: [{ key: "k1", text: "run the tests", sentAt: 5 }] });
  expect(parse(JSON.stringify(draft))).toEqual(draft);
});

test("the final receipt ends it", () => {
  const draft = sent(written(noDraft, "a"), "k1", 5);
  expect(settled(draft, "k1")).toEqual(noDraft);
  expect(settled(draft, "k2")).toEqual(draft);
});

test("a prompt that was not typed comes back above what was written meanwhile", () => {
  const draft = written(sent(written(noDraft, "first"), "k1", 5), "second");
  expect(returned(draft, "k1")).toEqual({ text: "first\nsecond", sent: [] });
  expect(returned(returned(draft, "k1"), "k1").text).toBe("first\nsecond");
});

test("only prompts whose key the server still has are asked for again", () => {
  const draft = sent(written(sent(written(noDraft, "a"), "old", 0), "b"), "new", 11 * HOUR);
  const { fresh, old } = toResume(draft, 13 * HOUR);
  expect([fresh.map((it) => it.key), old.map((it) => it.key)]).toEqual([["new"], ["old"]]);
});

test("a damaged draft is an empty one", () => {
  expect(parse("{")).toEqual(noDraft);
  expect(parse(null)).toEqual(noDraft);
});
