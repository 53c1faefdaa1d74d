/** The answers of a question as buttons, in the order of the screen. Nothing is preselected. */
import { useEffect } from "react";
import { useDelayed } from "../../lib/hooks";
import { cx } from "../../ui";
import { appeared, press, SETTLE_MS, useAnswers } from "./answer-store";
import styles from "./approve.module.css";
import type { Choice, Question } from "./question";

export interface ChoicesProps {
  question: Question;
  /** `row` is for the list: one line, and only the first answers. */
  look: "sheet" | "row";
  choices?: readonly Choice[];
}

/** Longer answers are below each other. */
const SHORT = 28;
/** Shorter ones are never cut in rows. */
const TINY = 8;

export function Choices({ question, look, choices = question.choices }: ChoicesProps) {
  const step = useAnswers((state) => state.steps.get(question.key) ?? null);
  const isSettled = useDelayed(SETTLE_MS);
  useEffect(() => appeared(question.key), [question.key]);
  const isLong = look === "sheet" && choices.some((choice) => choice.label.length > SHORT);
  const number = step?.at === "armed" || step?.at === "sending" ? step.choice.number : null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a flex container everywhere
    <div role="group" aria-label="Answers" className={cx(styles.choices, isLong && styles.stacked)}>
      {choices.map((choice) => (
        <ChoiceButton
          key={choice.number}
          choice={choice}
          look={look}
          isArmed={number === choice.number && step?.at === "armed"}
          isSending={number === choice.number && step?.at === "sending"}
          isDisabled={!isSettled || step?.at === "sending"}
          onPress={() => press(question, choice)}
        />
      ))}
    </div>
  );
}

interface ChoiceButtonProps {
  choice: Choice;
  look: "sheet" | "row";
  isArmed: boolean;
  isSending: boolean;
  isDisabled: boolean;
  onPress: () => void;
}

function ChoiceButton(props: ChoiceButtonProps) {
  const { choice, look, isArmed, isSending, isDisabled, onPress } = props;
  const label = look === "row" ? (choice.short ?? choice.label) : choice.label;
  const again = look === "row" ? "Press again" : `Press again: ${label}`;
  const text = isArmed ? again : label;
  return (
    <button
      type="button"
      className={cx(styles.choice, look === "row" && styles.inRow)}
      data-tone={choice.tone}
      data-armed={isArmed || undefined}
      data-sending={isSending || undefined}
      aria-busy={isSending}
      disabled={isDisabled}
      title={look === "row" ? choice.label : undefined}
      data-short={label.length <= TINY || undefined}
      onClick={onPress}
    >
      <span className={styles.number}>{choice.number}</span>
      <span className={styles.label}>{isSending ? `${label} …` : text}</span>
    </button>
  );
}
