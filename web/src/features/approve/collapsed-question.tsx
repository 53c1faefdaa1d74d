/** A question that was put aside to see the terminal: one line that brings it back. */
import { ChevronUp } from "lucide-react";
import { StateIcon } from "../../ui";
import styles from "./approve.module.css";
import type { Question } from "./question";

export function CollapsedQuestion({
  question,
  onShow,
}: {
  question: Question;
  onShow: () => void;
}) {
  return (
    <button type="button" className={styles.collapsed} aria-expanded={false} onClick={onShow}>
      <StateIcon shape="needs" />
      <span className={styles.collapsedText}>{question.text.split("\n")[0]}</span>
      <span className={styles.collapsedShow}>
        Show <ChevronUp aria-hidden />
      </span>
    </button>
  );
}
