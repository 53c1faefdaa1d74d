import { expect, test } from "vitest";
import { CallError } from "../../lib/errors";
import { answered, disarmed, failed, noAnswers, noted, pressed } from "./answers";
import type { Choice, Question } from "./question";

const yes: Choice = { number: 1, label: "Yes", tone: "allow", isLasting: false, answer: 1 };
const always: Choice = { number: 2, label: "Always", tone: "allow", isLasting: true, answer: 2 };
const question: Question = {
  key: "d1",
  paneId: "ui",
  kind: "permission",
  text: "?",
  since: "",
  choices: [yes, always],
  approval: null,
};

test("a plain answer is sent at once, and only once", () => {
  const first = pressed(noAnswers, question, yes);
  expect(first.send).toBe(true);
  expect(pressed(first.answers, question, yes).send).toBe(false);
});

test("a lasting answer takes a second press of the same one", () => {
  const first = pressed(noAnswers, question, always);
  expect(first.send).toBe(false);
  expect(first.answers.steps.get("d1")).toMatchObject({ at: "armed" });
  expect(pressed(first.answers, question, always).send).toBe(true);
  expect(pressed(disarmed(first.answers, question), question, always).send).toBe(false);
});

test("another choice than the armed one is its own", () => {
  const armed = pressed(noAnswers, question, always).answers;
  expect(pressed(armed, question, yes)).toMatchObject({ send: true });
});

test("a question that is gone was answered", () => {
  const sent = pressed(noAnswers, question, yes).answers;
  const after = answered(sent, question, yes, true);
  expect(after.steps.size).toBe(0);
  expect(after.notes.get("ui")).toEqual({ tone: "answered", text: "Answered: Yes" });
});

test("a question that is still there had no effect", () => {
  const after = answered(noAnswers, question, yes, false);
  expect(after.steps.get("d1")).toMatchObject({ at: "no-effect" });
  expect(after.notes.size).toBe(0);
});

test("a question that was replaced says so in the words of the server", () => {
  const conflict = new CallError("conflict", "the question has changed; `agent:state` shows it");
  const after = failed(noAnswers, question, yes, conflict);
  expect(after.steps.size).toBe(0);
  const text = "Not answered: the question has changed.";
  expect(after.notes.get("ui")).toEqual({ tone: "changed", text });
});

test("an answer that was not confirmed can be given again", () => {
  const lost = new CallError("unconfirmed", "the connection was lost");
  const after = failed(pressed(noAnswers, question, yes).answers, question, yes, lost);
  expect(after.steps.get("d1")).toMatchObject({ at: "failed", error: "the connection was lost" });
  expect(pressed(after, question, yes).send).toBe(true);
});

test("a note goes away unless a newer one has replaced it", () => {
  const first = answered(noAnswers, question, yes, true);
  const note = first.notes.get("ui");
  const second = answered(first, question, always, true);
  if (!note) throw new Error("no note");
  expect(noted(second, "ui", note)).toBe(second);
  expect(noted(first, "ui", note).notes.size).toBe(0);
});
