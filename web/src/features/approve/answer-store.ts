/** Sends answers, each bound to the question that was shown, and keeps what became of them. */
import { create } from "zustand";
import { put } from "../../state/panes";
import { useApp } from "../../state/store";
import { details, socket } from "../../state/sync";
import * as answers from "./answers";
import { type Choice, type Question, questionsOf } from "./question";

/** A press on a question that has just appeared was meant for what was there before. */
export const SETTLE_MS = 350;
const ARMED_MS = 6_000;
const NOTE_MS = 5_000;

export const useAnswers = create<answers.Answers>(() => answers.noAnswers);

/** The questions on the screen, and since when; only these can be answered. */
const shown = new Map<string, { count: number; since: number }>();

/** A question is shown now; returns the opposite. */
export function appeared(key: string): () => void {
  const entry = shown.get(key) ?? { count: 0, since: performance.now() };
  shown.set(key, { ...entry, count: entry.count + 1 });
  return () => {
    const count = (shown.get(key)?.count ?? 1) - 1;
    if (count > 0) shown.set(key, { ...entry, count });
    else shown.delete(key);
  };
}

/** Presses a choice; a lasting one is sent at the second press. */
export function press(question: Question, choice: Choice, reason?: string): void {
  const since = shown.get(question.key)?.since;
  if (since === undefined || performance.now() - since < SETTLE_MS) return;
  const next = answers.pressed(useAnswers.getState(), question, choice);
  useAnswers.setState(next.answers);
  if (next.send) void send(question, choice, reason);
  else
    window.setTimeout(() => useAnswers.setState((it) => answers.disarmed(it, question)), ARMED_MS);
}

/** Presses the choice with this number of the first question that a pane shows. */
export function pressNumber(paneId: string, number: number): void {
  const { panes, approvals } = useApp.getState();
  const pane = panes.get(paneId);
  const [question] = pane ? questionsOf(pane, approvals) : [];
  const choice = question?.choices.find((it) => it.number === number);
  if (question && choice) press(question, choice);
}

async function send(question: Question, choice: Choice, reason?: string): Promise<void> {
  try {
    const isGone = await (question.approval
      ? answerApproval(question.approval.id, choice, reason)
      : answerDialog(question, choice));
    useAnswers.setState((it) => answers.answered(it, question, choice, isGone));
  } catch (error) {
    useAnswers.setState((it) => answers.failed(it, question, choice, error));
    // Shows what is on the screen now.
    if (question.paneId) details.refresh(question.paneId);
  }
  const pane = question.paneId ?? "";
  const note = useAnswers.getState().notes.get(pane);
  if (note)
    window.setTimeout(() => useAnswers.setState((it) => answers.noted(it, pane, note)), NOTE_MS);
}

async function answerDialog({ key, paneId }: Question, choice: Choice): Promise<boolean> {
  const params = { paneId: paneId ?? "", option: choice.answer, dialogId: key };
  const { answered: isGone, agent } = await socket.call("agent:answer", params);
  const pane = useApp.getState().panes.get(params.paneId);
  // Its event may come later than this answer.
  if (pane) useApp.setState((state) => ({ panes: put(state.panes, { ...pane, agent }) }));
  return isGone;
}

async function answerApproval(id: string, choice: Choice, reason?: string): Promise<boolean> {
  const why = reason?.trim() ? { reason: reason.trim() } : {};
  const { approval } = await socket.call("approval:answer", { id, answer: choice.answer, ...why });
  if (approval.kind === "dialog") return approval.status !== "open";
  useApp.setState((state) => {
    const open = new Map(state.approvals);
    open.delete(id);
    return { approvals: open };
  });
  return true;
}
