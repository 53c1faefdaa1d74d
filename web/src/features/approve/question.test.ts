import { expect, test } from "vitest";
import type { Dialog } from "../../api/generated";
import { agentOf, approvalOf, at, paneOf } from "../../state/fixtures";
import { lasts, linesOf, questionsOf, withoutPane } from "./question";

const dialog: Dialog = {
  id: "d1",
  kind: "permission",
  text: "Allow this command?",
  options: [
    { label: "Yes", keys: ["enter"], selected: true, allows: true },
    { label: "Yes, and don\u2019t ask again", keys: ["down", "enter"], allows: true },
    { label: "No", keys: ["esc"], allows: false },
    { label: "Details", keys: ["d"] },
  ],
};
const asking = (since = 5) =>
  paneOf("ui", { agent: { ...agentOf("blocked", since), kind: "permission", dialog } });
const mapOf = (...list: ReturnType<typeof approvalOf>[]) => new Map(list.map((it) => [it.id, it]));

test("the options of a dialog keep the order of the screen", () => {
  const [question] = questionsOf(asking(), new Map());
  expect(question).toMatchObject({ key: "d1", kind: "permission", approval: null });
  expect(question?.choices.map((it) => [it.number, it.tone, it.isLasting])).toEqual([
    [1, "allow", false],
    [2, "allow", true],
    [3, "deny", false],
    [4, "neutral", false],
  ]);
});

test("a dialog that has left the screen is no question", () => {
  const pane = paneOf("ui", { agent: { ...agentOf("busy"), dialog } });
  expect(questionsOf(pane, new Map())).toEqual([]);
});

test("the approval of a dialog is not shown a second time", () => {
  const own = { ...approvalOf("a1", "ui", 5), kind: "dialog" as const };
  expect(questionsOf(asking(), mapOf(own)).map((it) => it.key)).toEqual(["d1"]);
});

test("what waits longest comes first", () => {
  const held = approvalOf("a1", "ui", 2);
  const others = approvalOf("a2", "db", 1);
  expect(questionsOf(asking(), mapOf(held, others)).map((it) => it.key)).toEqual(["a1", "d1"]);
});

test("an answer for the pane is offered only if it covers something, and is lasting", () => {
  const pane = paneOf("ui");
  const labels = (covers: string | null) =>
    questionsOf(pane, mapOf({ ...approvalOf("a1", "ui"), covers }))[0]?.choices.map(
      (it) => `${it.number} ${it.answer}${it.isLasting ? " twice" : ""}`,
    );
  expect(labels(null)).toEqual(["1 allow", "2 deny"]);
  expect(labels("pane:remove")).toEqual(["1 allow", "2 allow-pane twice", "3 deny"]);
});

test("requests without a pane of the list are found", () => {
  const token = { ...approvalOf("a1", "x", 3), paneId: null };
  const gone = approvalOf("a2", "gone", 1);
  const found = withoutPane(mapOf(token, gone, approvalOf("a3", "ui")), new Map([["ui", 1]]));
  expect(found.map((it) => it.key)).toEqual(["a2", "a1"]);
});

test("lasting options are told by whole words", () => {
  const lasting = [
    "Always allow",
    "Yes, and don't ask again",
    "Allow for this session",
    "Yes to all",
  ];
  expect(lasting.filter(lasts)).toEqual(lasting);
  expect(["Yes", "Allow once", "Call the tool", "Install"].filter(lasts)).toEqual([]);
});

test("only a text with both kinds of lines is a diff", () => {
  expect(linesOf("a\n+ b\n- c").map((it) => it.change)).toEqual([null, "added", "removed"]);
  expect(linesOf("- one\n- two").map((it) => it.change)).toEqual([null, null]);
  expect(linesOf("--flag\n+ b").map((it) => it.change)).toEqual([null, null]);
});

test("a question says since when it waits", () => {
  expect(questionsOf(asking(7), new Map())[0]?.since).toBe(at(7));
});
