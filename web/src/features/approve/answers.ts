/** What became of presses on answers: one step for each question, one note for each pane. Pure. */
import { CallError, sentence } from "../../lib/errors";
import type { Choice, Question } from "./question";

export type Step =
  | { at: "armed"; choice: Choice }
  | { at: "sending"; choice: Choice }
  /** The keys were pressed, and the question is still on the screen. */
  | { at: "no-effect"; choice: Choice }
  | { at: "failed"; choice: Choice; error: string };

/** What is said about the question before: it was answered, or replaced before an answer. */
export interface Note {
  tone: "answered" | "changed";
  text: string;
}

export interface Answers {
  steps: ReadonlyMap<string, Step>;
  /** By pane; requests without a pane are under the empty name. */
  notes: ReadonlyMap<string, Note>;
}

export const noAnswers: Answers = { steps: new Map(), notes: new Map() };

/** What a press does: nothing, ask for a second one, or send. */
export function pressed(
  answers: Answers,
  question: Question,
  choice: Choice,
): { answers: Answers; send: boolean } {
  const step = answers.steps.get(question.key);
  if (step?.at === "sending") return { answers, send: false };
  const isArmed = step?.at === "armed" && step.choice.number === choice.number;
  if (choice.isLasting && !isArmed) {
    return { answers: withStep(answers, question, { at: "armed", choice }), send: false };
  }
  const cleared = withNote(answers, question, null);
  return { answers: withStep(cleared, question, { at: "sending", choice }), send: true };
}

/** The second press did not come. */
export function disarmed(answers: Answers, question: Question): Answers {
  if (answers.steps.get(question.key)?.at !== "armed") return answers;
  return withStep(answers, question, null);
}

export function answered(
  answers: Answers,
  question: Question,
  choice: Choice,
  isGone: boolean,
): Answers {
  if (!isGone) return withStep(answers, question, { at: "no-effect", choice });
  const note: Note = { tone: "answered", text: `Answered: ${choice.label}` };
  return withStep(withNote(answers, question, note), question, null);
}

/** The answer was refused, or its outcome is not known. */
export function failed(
  answers: Answers,
  question: Question,
  choice: Choice,
  error: unknown,
): Answers {
  const code = error instanceof CallError ? error.code : null;
  const isOver = code === "conflict" || code === "gone" || code === "not_found";
  if (isOver) {
    const note: Note = { tone: "changed", text: changeOf(error) };
    return withStep(withNote(answers, question, note), question, null);
  }
  const text = sentence(error);
  return withStep(answers, question, { at: "failed", choice, error: text });
}

/** The server's sentence, which also says whether keys were pressed; its advice is for programs. */
function changeOf(error: unknown): string {
  return `Not answered: ${sentence(error).split(";")[0]}.`;
}

/** Notes are shown for a while. */
export function noted(answers: Answers, pane: string, note: Note): Answers {
  if (answers.notes.get(pane) !== note) return answers;
  const notes = new Map(answers.notes);
  notes.delete(pane);
  return { ...answers, notes };
}

function withStep(answers: Answers, question: Question, step: Step | null): Answers {
  const steps = new Map(answers.steps);
  if (step) steps.set(question.key, step);
  else steps.delete(question.key);
  return { ...answers, steps };
}

function withNote(answers: Answers, question: Question, note: Note | null): Answers {
  const notes = new Map(answers.notes);
  if (note) notes.set(question.paneId ?? "", note);
  else notes.delete(question.paneId ?? "");
  return { ...answers, notes };
}
